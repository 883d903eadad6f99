"""Reads one picture that a stranger sent: decodes it whole, finds what its camera noted, and draws it anew without any of that.

Run as a program of its own (`python -I image_reading.py SOURCE KIND FOLDER`), with bounds that the system keeps: what a hostile file
does to a decoder it does to this process, never to the one that answers people. So nothing of the service is imported here.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

MOST_PIXELS = 50_000_000
LARGE_EDGE = 2048
SMALL_EDGE = 480
LARGE_NAME = "large.jpg"
SMALL_NAME = "small.jpg"

# Bytes of address space: a picture of 50 million pixels with transparency takes 200 MB to decode, and a WebP is held three times.
MEMORY_BYTES = 1_000_000_000
CPU_SECONDS = 20
_LARGEST_COPY = 16_000_000
_MOST_OPEN_FILES = 64
_LARGEST_PROFILE = 4_000_000
_FORMATS = {"image/jpeg": ("JPEG",), "image/png": ("PNG",), "image/webp": ("WEBP",), "image/heic": ("HEIF",)}
# Tags of Exif 3.0.
_ORIENTATION, _EXIF, _GPS, _DATE_TIME = 0x0112, 0x8769, 0x8825, 0x0132
_TAKEN, _OFFSET = 0x9003, 0x9011
_CAMERA_TIME = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)")
_ZONE = re.compile(r"[+-]\d\d:\d\d")


class _TooManyPixels(Exception):
    """The picture is larger than anything that is decoded here."""


def read_picture(source: Path, kind: str, folder: Path) -> dict[str, Any]:
    """What a picture is, with its two copies drawn into `folder`. `kind` is the media type that its first bytes told.

    `state`: "shown" (both copies are there), "damaged" (they are, and may lack a part), "no_reader" (a HEIC picture where
    nothing reads HEIC), "too_many_pixels", "unreadable". `width` and `height` are those of the upright original; `lat`, `lon` (degrees),
    `camera_time` (YYYY-MM-DD HH:MM:SS by the camera's clock, with its offset where it is known) are there where they could be read.
    """
    if kind == "image/heic" and not _can_read_heic():
        return {"state": "no_reader"}
    for patient, state in ((False, "shown"), (True, "damaged")):
        told: dict[str, Any] = {}
        try:
            _draw(source, kind, folder, patient, told)
        except _TooManyPixels:
            return {**told, "state": "too_many_pixels"}
        except Exception as error:  # decoders raise whatever they like; the file is kept for a person to look at
            told["problem"] = f"{type(error).__name__}: {error}"[:200]
        else:
            return {**told, "state": state}
    return {**told, "state": "unreadable"}


def _can_read_heic() -> bool:
    try:
        import pillow_heif
    except ImportError:
        return False
    pillow_heif.register_heif_opener()
    return True


def _draw(source: Path, kind: str, folder: Path, patient: bool, told: dict[str, Any]) -> None:
    """Fill in `told` and draw both copies. With `patient`, what is missing or broken in a file is drawn as nothing."""
    from PIL import Image, ImageFile

    Image.MAX_IMAGE_PIXELS = None  # counted here, where a picture that is too large can be told from a broken one
    ImageFile.LOAD_TRUNCATED_IMAGES = patient
    with Image.open(source, formats=_FORMATS[kind]) as opened:
        width, height = opened.size
        told.update(width=width, height=height)
        if width * height > MOST_PIXELS:
            raise _TooManyPixels
        opened.draft(None, (LARGE_EDGE, LARGE_EDGE))  # a JPEG can be decoded at a fraction of its size
        opened.load()
        orientation, noted = _notes(opened.getexif)
        told.update(noted)
        picture: Any = _upright(_plain(opened), orientation)
    if orientation in (5, 6, 7, 8):
        told.update(width=height, height=width)
    for name, edge, quality in ((LARGE_NAME, LARGE_EDGE, 82), (SMALL_NAME, SMALL_EDGE, 78)):
        picture.thumbnail((edge, edge), Image.Resampling.LANCZOS)
        # Drawn into a new picture: nothing that came with the old one (comment, profile, position, thumbnail) is in it.
        fresh = Image.new("RGB", picture.size, "white")
        fresh.paste(picture)
        fresh.save(folder / name, "JPEG", quality=quality, optimize=True, progressive=True)


def _plain(opened: Any) -> Any:
    """The picture at the size it is shown, in the colours of every screen, on white where it was transparent."""
    from PIL import Image

    profile = opened.info.get("icc_profile")
    has_holes = opened.has_transparency_data
    picture = opened
    if picture.mode.startswith("I"):  # 16 bits of grey
        picture = picture.point(lambda value: value * (1 / 256)).convert("L")
    elif picture.mode not in ("L", "LA", "RGB", "RGBA", "CMYK"):
        picture = picture.convert("RGBA" if has_holes else "RGB")
    elif has_holes:
        picture = picture.convert("RGBA")
    picture.thumbnail((LARGE_EDGE, LARGE_EDGE), Image.Resampling.LANCZOS, reducing_gap=2.0)
    if picture.mode in ("LA", "RGBA"):
        holes = picture.getchannel("A")
        ground = Image.new("RGB", picture.size, "white")
        ground.paste(picture.convert("RGB"), mask=holes)
        picture = ground
    return _in_screen_colours(picture, profile).convert("RGB")


def _in_screen_colours(picture: Any, profile: object) -> Any:
    """The picture in sRGB. A profile that cannot be used is left aside: the colours are then a little off."""
    from PIL import ImageCms

    if not isinstance(profile, bytes) or not 0 < len(profile) <= _LARGEST_PROFILE:
        return picture
    try:
        return ImageCms.profileToProfile(
            picture, ImageCms.ImageCmsProfile(BytesIO(profile)), ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return picture


def _upright(picture: Any, orientation: int) -> Any:
    """The picture turned as its camera was held."""
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT, 3: Transpose.ROTATE_180, 4: Transpose.FLIP_TOP_BOTTOM, 5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270, 7: Transpose.TRANSVERSE, 8: Transpose.ROTATE_90,
    }  # fmt: skip
    return picture.transpose(turns[orientation]) if orientation in turns else picture


# -- what the camera noted


def _notes(getexif: Callable[[], Any]) -> tuple[int, dict[str, Any]]:
    """How the camera was held (1 to 8) and what it noted of place and time; notes that cannot be read are no notes."""
    try:
        exif = getexif()
        held = exif.get(_ORIENTATION, 1)
        orientation = held if isinstance(held, int) else 1
    except Exception:  # notes are written by ten thousand programs, in as many ways
        return 1, {}
    return orientation, {**_part(lambda: _place(exif.get_ifd(_GPS))), **_part(lambda: _time(exif, exif.get_ifd(_EXIF)))}


def _part(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return read()
    except Exception:  # as above: a fault in one part of the notes leaves the other
        return {}


def _place(gps: Mapping[int, Any]) -> dict[str, Any]:
    lat, lon = _degrees(gps.get(2), gps.get(1), "S"), _degrees(gps.get(4), gps.get(3), "W")
    # 0, 0 is what a camera notes that did not know.
    if lat is None or lon is None or abs(lat) > 90 or abs(lon) > 180 or (lat == 0 and lon == 0):
        return {}
    return {"lat": round(lat, 6), "lon": round(lon, 6)}


def _degrees(parts: Any, side: Any, negative: str) -> float | None:
    if parts is None:
        return None
    degrees, minutes, seconds = (*(float(part) for part in parts), 0.0, 0.0)[:3]
    value = degrees + minutes / 60 + seconds / 3600
    letter = side.decode("ascii", "replace") if isinstance(side, bytes) else str(side or "")
    return (-value if letter.strip("\x00 ").upper() == negative else value) if math.isfinite(value) else None


def _time(exif: Mapping[int, Any], more: Mapping[int, Any]) -> dict[str, Any]:
    noted = _CAMERA_TIME.match(str(more.get(_TAKEN) or exif.get(_DATE_TIME) or ""))
    if not noted:
        return {}
    year, month, day, hour, minute, second = noted.groups()
    offset = _ZONE.match(str(more.get(_OFFSET) or ""))
    return {"camera_time": f"{year}-{month}-{day} {hour}:{minute}:{second}{offset[0] if offset else ''}"}


# -- the program


def _bound() -> None:
    """Bounds on memory, time, what is written and what is opened: a bomb ends this process and nothing else."""
    import resource

    bounds = {
        resource.RLIMIT_AS: MEMORY_BYTES, resource.RLIMIT_CPU: CPU_SECONDS, resource.RLIMIT_FSIZE: _LARGEST_COPY,
        resource.RLIMIT_NOFILE: _MOST_OPEN_FILES, resource.RLIMIT_CORE: 0,
    }  # fmt: skip
    for kind, most in bounds.items():
        resource.setrlimit(kind, (most, most))


def main() -> None:
    """Read the picture named on the command line; what was found goes to standard output as one line of JSON."""
    source, kind, folder = sys.argv[1:]
    _bound()
    sys.stdout.write(json.dumps(read_picture(Path(source), kind, Path(folder))))


if __name__ == "__main__":
    main()
