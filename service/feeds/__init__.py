"""What the public record says to programs that read feeds: advisories as CAP 1.2, and spills and advisories as Atom."""

from service.feeds.routes import router

__all__ = ["router"]
