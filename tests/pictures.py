"""Pictures made in the test: as phones send them, and as nobody should."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from PIL import Image, ImageCms

# Inside Chino, as a camera notes it: degrees, minutes, seconds.
CHINO_NOTED = {1: "N", 2: (34.0, 0.0, 36.0), 3: "W", 4: (117.0, 41.0, 24.0)}
CHINO = (34.01, -117.69)
RED, BLUE, WHITE = (200, 20, 20), (20, 20, 200), (255, 255, 255)
HEIC_HEAD = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"


def halves(width: int = 400, height: int = 200, mode: str = "RGB") -> Image.Image:
    """A picture that is red on the left and blue on the right, so that one sees how it was turned."""
    made = Image.new("RGB", (width, height), BLUE)
    made.paste(RED, (0, 0, width // 2, height))
    return made if mode == "RGB" else made.convert(mode)


def notes(orientation: int = 1, gps: Mapping[int, Any] | None = CHINO_NOTED, taken: str = "2026:12:01 14:01:02") -> Image.Exif:
    """What a camera notes beside a picture."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "Phone of Ana Ruiz"
    exif.get_ifd(0x8769)[0x9003] = taken
    if gps:
        exif.get_ifd(0x8825).update(gps)
    return exif


def encoded(picture: Image.Image, kind: str = "JPEG", **options: Any) -> bytes:
    """A picture as a file of a kind."""
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def photo(orientation: int = 1, **options: Any) -> bytes:
    """A JPEG as a phone makes it, with what the phone noted."""
    return encoded(halves(), exif=notes(orientation), **options)


def heic(picture: Image.Image | None = None, exif: Image.Exif | None = None, **options: Any) -> bytes:
    """A HEIC picture as iPhones make it: how it was held stands in the picture, too, and counts there."""
    import pillow_heif

    pillow_heif.register_heif_opener()
    return encoded(picture or halves(), "HEIF", **({"exif": exif.tobytes()} if exif else {}), **options)


def noise(width: int = 400, height: int = 300) -> Image.Image:
    """A picture that no encoder makes small."""
    return Image.merge("RGB", [Image.effect_noise((width, height), 90) for _ in range(3)])


def half(file: bytes) -> bytes:
    """What arrives where a connection breaks."""
    return file[: len(file) // 2]


def spoilt(file: bytes) -> bytes:
    """A file with a few bytes in its middle overwritten."""
    return file[: len(file) // 2] + b"\x00\xff" * 8 + file[len(file) // 2 + 16 :]


def chunk(name: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int, height: int, *chunks: bytes, colour: int = 2, depth: int = 8) -> bytes:
    """A PNG file put together by hand: its header may say anything."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunks) + chunk(b"IEND", b"")


def black(width: int, height: int, bytes_a_pixel: int = 3) -> bytes:
    """The data chunk of a black PNG picture: a few kilobytes for any number of pixels."""
    packed, line = zlib.compressobj(9), b"\x00" * (1 + width * bytes_a_pixel)
    return chunk(b"IDAT", b"".join(packed.compress(line) for _ in range(height)) + packed.flush())


def png_with_bomb(name: bytes) -> bytes:
    """A small PNG with a chunk whose 78 kB come to 80 MB."""
    return png(4, 4, chunk(name, b"a\x00\x00" + zlib.compress(bytes(80_000_000))), black(4, 4))


def with_segment(jpeg: bytes, marker: int, data: bytes) -> bytes:
    """A JPEG with a segment of its own right after its start."""
    return jpeg[:2] + bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data + jpeg[2:]


def looping_exif() -> bytes:
    """Camera notes whose directory says that the next one is itself, and whose part for the position is itself, too."""
    entry = struct.pack("<HHII", 0x8825, 4, 1, 8) + struct.pack("<HHII", 0x8769, 4, 1, 8)
    return b"Exif\x00\x00" + b"II*\x00" + struct.pack("<I", 8) + struct.pack("<H", 2) + entry + struct.pack("<I", 8)


def endless_exif() -> bytes:
    """Camera notes that claim 65,535 entries of four billion values each."""
    return (
        b"Exif\x00\x00"
        + b"II*\x00"
        + struct.pack("<I", 8)
        + struct.pack("<H", 0xFFFF)
        + struct.pack("<HHII", 0x8825, 10, 0xFFFFFFFF, 0) * 3
    )


def _profiled() -> bytes:
    return encoded(halves(), icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())


def _animated(kind: str) -> bytes:
    frames = [Image.new("RGB", (60, 40), (n * 8, 0, 0)) for n in range(30)]
    return encoded(frames[0], kind, save_all=True, append_images=frames[1:])


def _webp_that_lies() -> bytes:
    body = b"VP8X" + struct.pack("<I", 10) + b"\x10\x00\x00\x00" + (16382).to_bytes(3, "little") * 2 + b"ALPH" + struct.pack("<I", 0)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


# What ends as a file that is kept, by name: what is said of it, and whether a copy can be shown.
KEPT: dict[str, tuple[Callable[[], bytes], tuple[str, ...], bool]] = {
    "a photo of a phone": (photo, (), True),
    **{f"a photo held in way {way}": ((lambda way=way: photo(way)), (), True) for way in range(1, 9)},
    "an orientation that does not exist": (lambda: photo(99), (), True),
    "a progressive jpeg": (lambda: photo(progressive=True), (), True),
    "a grey jpeg": (lambda: encoded(halves(mode="L")), (), True),
    "a cmyk jpeg": (lambda: encoded(halves(mode="CMYK")), (), True),
    "a jpeg with a colour profile": (_profiled, (), True),
    "a jpeg with a broken profile": (lambda: encoded(halves(), icc_profile=b"\x00" * 5000), (), True),
    "a jpeg with a giant profile": (lambda: encoded(halves(), icc_profile=b"\x41" * 5_000_000), (), True),
    "a jpeg with a comment in html": (lambda: with_segment(photo(), 0xFE, b"<script>alert(1)</script>"), (), True),
    "a jpeg with a page behind it": (lambda: photo() + b"<html><script>alert(1)</script></html>", (), True),
    "a jpeg with an archive behind it": (lambda: photo() + b"PK\x03\x04" + b"\x00" * 500, (), True),
    "a jpeg with php in its notes": (lambda: with_segment(photo(), 0xE1, b"Exif\x00\x00<?php system($_GET['c']); ?>"), (), True),
    "notes that turn in a circle": (lambda: with_segment(encoded(halves()), 0xE1, looping_exif()), (), True),
    "notes without an end": (lambda: with_segment(encoded(halves()), 0xE1, endless_exif()), (), True),
    "a position that is nowhere": (lambda: encoded(halves(), exif=notes(gps={**CHINO_NOTED, 2: (999.0, 0.0, 0.0)})), (), True),
    "a position divided by nothing": (lambda: photo().replace(struct.pack("<II", 34, 1), struct.pack("<II", 34, 0)), (), True),
    "a position in one number": (lambda: encoded(halves(), exif=notes(gps={1: "N", 2: 34.01, 3: "W", 4: 117.69})), (), True),
    "a time that is none": (lambda: encoded(halves(), exif=notes(taken="0000:99:99 ab:cd:ef")), (), True),
    "half a jpeg": (lambda: half(encoded(noise(), exif=notes())), ("damaged",), True),
    "the first bytes of a jpeg": (lambda: photo()[:24], ("unreadable",), False),
    "a page that begins like a jpeg": (lambda: b"\xff\xd8\xff<html><script>alert(1)</script></html>", ("unreadable",), False),
    "noise that begins like a jpeg": (lambda: b"\xff\xd8\xff\xe0" + bytes(range(256)) * 40, ("unreadable",), False),
    "a jpeg of no size": (lambda: photo().replace(b"\x00\xc8\x01\x90", b"\x00\x00\x00\x00", 1), ("unreadable",), False),
    "a png": (lambda: encoded(halves(), "PNG"), (), True),
    "a png with 16 bits of grey": (lambda: encoded(Image.new("I;16", (300, 200), 40_000), "PNG"), (), True),
    "a png with 16 bits of colour": (lambda: png(10, 10, black(10, 10, 6), depth=16), (), True),
    "a png of one bit": (lambda: encoded(halves(mode="1"), "PNG"), (), True),
    "a png with a palette": (lambda: encoded(halves(mode="P"), "PNG", transparency=0), (), True),
    "a png that is transparent": (lambda: encoded(Image.new("RGBA", (300, 200), (0, 0, 0, 0)), "PNG"), (), True),
    "a png that is grey and transparent": (lambda: encoded(Image.new("LA", (300, 200), (0, 0)), "PNG"), (), True),
    "a moving png": (lambda: _animated("PNG"), (), True),
    "a png with a bomb in its text": (lambda: png_with_bomb(b"zTXt"), ("damaged",), True),
    "a png with a bomb in its profile": (lambda: png_with_bomb(b"iCCP"), ("damaged",), True),
    "a png whose sums are wrong": (lambda: spoilt(encoded(noise(), "PNG")), ("damaged",), True),
    "half a png": (lambda: half(encoded(noise(), "PNG")), ("damaged",), True),
    "a png without data": (lambda: png(100, 100), ("unreadable",), False),
    "a png with data for more than it says": (lambda: png(4, 4, black(4000, 1000)), (), True),
    "a png that says more than it holds": (lambda: png(5000, 5000, black(10, 10)), ("damaged",), True),
    "a png of a single pixel": (lambda: encoded(Image.new("RGB", (1, 1)), "PNG"), (), True),
    "a png as thin as a hair": (lambda: encoded(Image.new("RGB", (40_000, 1)), "PNG"), (), True),
    "a webp": (lambda: encoded(halves(), "WEBP", exif=notes()), (), True),
    "a moving webp": (lambda: _animated("WEBP"), (), True),
    "a webp that is transparent": (lambda: encoded(Image.new("RGBA", (300, 200), (0, 0, 0, 0)), "WEBP"), (), True),
    "half a webp": (lambda: half(encoded(noise(), "WEBP")), ("unreadable",), False),
    "a webp that lies about its size": (_webp_that_lies, ("unreadable",), False),
    "a heic": (lambda: heic(exif=notes()), (), True),
    "half a heic": (lambda: half(heic(picture=noise())), ("damaged",), True),
    "the first bytes of a heic": (lambda: HEIC_HEAD, ("unreadable",), False),
}  # fmt: skip

# What is refused, by name: why.
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "empty"),
    "an svg": (lambda: b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "kind"),
    "a page": (lambda: b"<!doctype html><script>alert(1)</script>", "kind"),
    "a gif": (lambda: encoded(halves(), "GIF"), "kind"),
    "a gif that is a script": (lambda: b"GIF89a/*" + b"\x00" * 20 + b"*/=1;alert(1)", "kind"),
    "a bmp": (lambda: encoded(halves(), "BMP"), "kind"),
    "a tiff": (lambda: encoded(halves(), "TIFF"), "kind"),
    "an avif": (lambda: encoded(halves(), "AVIF"), "kind"),
    "a pdf": (lambda: b"%PDF-1.7\n%%EOF", "kind"),
    "an archive": (lambda: b"PK\x03\x04" + b"\x00" * 400, "kind"),
    "an archive before a jpeg": (lambda: b"PK\x03\x04" + photo(), "kind"),
    "a gzip bomb": (lambda: b"\x1f\x8b\x08" + zlib.compress(b"\x00" * 10_000_000), "kind"),
    "a program": (lambda: b"MZ" + b"\x00" * 400, "kind"),
    "a program of linux": (lambda: b"\x7fELF" + b"\x00" * 400, "kind"),
    "a video": (lambda: b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2", "kind"),
    "postscript": (lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) (r) file", "kind"),
    "a space before a jpeg": (lambda: b" " + photo(), "kind"),
    "noughts": (lambda: b"\x00" * 5000, "kind"),
    "a text": (lambda: b"the manhole beside the school", "kind"),
    "a bomb of 12,000 pixels": (lambda: png(12_000, 12_000, black(12_000, 12_000)), "too_many_pixels"),
    "a header that says 20,000 pixels": (lambda: png(20_000, 20_000, black(10, 10)), "too_many_pixels"),
    "a header that says two billion pixels": (lambda: png(2**31 - 1, 2**31 - 1, black(10, 10)), "too_many_pixels"),
    "a jpeg that says 60,000 pixels": (lambda: photo().replace(b"\x00\xc8\x01\x90", b"\xea\x60\xea\x60", 1), "too_many_pixels"),
}  # fmt: skip
