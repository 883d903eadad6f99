from fastapi import APIRouter, Request, Response

router = APIRouter()


def error_page(request: Request, error: Exception) -> Response:
    return Response(str(error), 400)
