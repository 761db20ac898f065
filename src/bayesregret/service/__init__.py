"""Experiments over HTTP: a FastAPI application, its tokens, and a server. Needs the extra `serve`."""

# ruff: noqa: E402 (the modules below import FastAPI and others when they load)

from bayesregret.extras import require

require("serve", "A service")

from bayesregret.service.app import create_app
from bayesregret.service.limits import Limits
from bayesregret.service.server import serve
from bayesregret.service.tokens import Tokens

__all__ = ["Limits", "Tokens", "create_app", "serve"]
