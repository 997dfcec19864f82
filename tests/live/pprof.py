"""Reads a profile in pprof's form by its schema (perftools.profiles.Profile),
and finds what refers to nothing. Written by hand: no library is needed for
varints."""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message: an integer or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError("a field goes beyond its message")
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7} is not in the schema")
        yield key >> 3, value


def numbers(value):
    """A repeated integer, packed or not."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


class Profile:
    SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = 1, 2, 3, 4, 5, 6

    def __init__(self, data):
        parts = {number: [] for number in range(1, 16)}
        for number, value in fields(data):
            parts[number].append(value)
        self.strings = [text.decode() for text in parts[self.STRING]]
        self.types = [tuple(self.strings[index] for _, index in fields(part))
                      for part in parts[self.SAMPLE_TYPE]]
        self.mappings = {dict(fields(part))[1] for part in parts[self.MAPPING]}
        self.functions = {}
        for part in parts[self.FUNCTION]:
            function = dict(fields(part))
            self.functions[function[1]] = self.strings[function[2]]
        self.locations = {}
        for part in parts[self.LOCATION]:
            self._add_location(part)
        self.samples = [self._sample(part) for part in parts[self.SAMPLE]]

    def _add_location(self, part):
        location = dict(fields(part))
        mapping = location.get(2, 0)
        if mapping and mapping not in self.mappings:
            raise ValueError(f"no mapping {mapping}")
        line = dict(fields(location[4]))
        self.locations[location[1]] = self.functions[line[1]]

    def _sample(self, part):
        frames, values = [], []
        for number, value in fields(part):
            if number == 1:
                frames += [self.locations[index] for index in numbers(value)]
            if number == 2:
                values += numbers(value)
        if len(values) != len(self.types):
            raise ValueError("a sample needs a value of each type")
        return frames, values
