"""Messages for tests: one that says nothing in particular, and one that is long and Spanish."""

from datetime import UTC, datetime

from notifiers import Message

PROMISED_AT = datetime(2026, 12, 1, 23, 5, 7, tzinfo=UTC)

LONG_SPANISH_TEXT = (
    "Aviso obligatorio: derrame de aguas residuales en la ciudad de Peñón.\n\n"
    + "¿Qué pasó? Un colector rompió bajo la Avenida Juárez; según la cuadrilla, más de 1.500 galones llegaron al canal «El Águila». " * 40
    + "\n.Esta línea empieza con un punto\n"
    + "Responda aquí: https://spills.example.gov/respond/aB3-" + "x" * 120
    + "\n"
)  # fmt: skip


def a_message(
    to: str,
    key: str = "delivery-17",
    subject: str = "Two hours to call the board",
    text: str = "Call the regional board by 3:05 p.m. PST.\nhttps://spills.example.gov/s/17",
    channel: str = "email",
    spill: str | None = "CH-2026-0042",
    duty: str | None = "chino/rwqcb-2-hours",
    step: str | None = "start+15m",
    at: datetime = PROMISED_AT,
    html: str = "",
) -> Message:
    """A message to one address; everything else may be left as it is."""
    return Message(key, channel, to, subject, text, spill, duty, step, at, html=html)
