"""A benchmark is a function that yields rows; `names` are those it can yield."""


def benchmark(*names):
    """Marks a function that yields rows of these names; it is given those that are wanted."""
    def mark(function):
        function.names = names
        return function
    return mark


def at_most(name, value, unit, aim):
    """A value that should not be above `aim`; None for no aim."""
    return {"name": name, "value": round(value, 2), "unit": unit, "peer": None, "peer_value": None,
            "ratio": None, "aim": aim, "reached": None if aim is None else value <= aim, "bound": "<="}


def beside(name, value, unit, peer, peer_value, aim):
    """A value beside a peer's; the ratio should be at least `aim`; None for no aim."""
    ratio = value / peer_value if peer_value else None
    return {"name": name, "value": round(value, 2), "unit": unit, "peer": peer,
            "peer_value": round(peer_value, 2), "ratio": None if ratio is None else round(ratio, 3),
            "aim": aim, "reached": None if aim is None or ratio is None else ratio >= aim, "bound": ">="}
