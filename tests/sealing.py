"""Saved agents with changes, whose checksum is made right again so that it hides nothing."""

import json

from bayesregret.agent.saved import checksum, decode, encode, parse, read_settings


def sealed(data: dict) -> str:
    """Text of an agent with the right checksum, if it can be read so far; otherwise the text as it is."""
    text = json.dumps(data)
    if data.get("version") == 1:  # which had no checksum
        return text
    try:
        parsed = parse(text)
        settings = read_settings(parsed)
        agent = settings.start()
        state = encode(decode(parsed.state, agent.schema))
    except (ValueError, TypeError, KeyError):
        return text
    return json.dumps(data | {"checksum": checksum(agent._start_settings(), state)})
