"""Open311 GeoReport v2 (wiki.open311.org/GeoReport_v2): other systems' forms and 311 apps report spills here and read them back.

`catalogue` says which services there are, `routes` which calls; what is shown of a request, and to whom, stands in `shown`, and how an
answer is written, JSON or XML, and an error as the standard has it, in `answers`.
"""

from service.open311.routes import router

__all__ = ["router"]
