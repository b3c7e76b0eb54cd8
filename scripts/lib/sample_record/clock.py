"""Dates, days and the two time zones in which a made-up person lives. Both follow the European rule for summer time."""

DAY = 86400
HOME, AWAY = "Europe/Berlin", "Europe/Lisbon"
STANDARD = {HOME: 3600, AWAY: 0}


def civil(days):
    """The year, month and day of a number of days since 1970."""
    z = days + 719468
    era, doe = divmod(z, 146097)
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    month = mp + 3 if mp < 10 else mp - 9
    return yoe + era * 400 + (month <= 2), month, doy - (153 * mp + 2) // 5 + 1


def days_since_1970(year, month, day):
    """The inverse of `civil`."""
    year -= month <= 2
    era, yoe = divmod(year, 400)
    doy = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468


def date(days):
    """A number of days since 1970 as yyyy-MM-dd."""
    return "%04d-%02d-%02d" % civil(days)


def weekday(days):
    """The day of the week, 0 for Monday."""
    return (days + 3) % 7


def last_sunday(year, month):
    end = days_since_1970(year, month, 31)
    return end - (weekday(end) + 1) % 7


_SUMMERS = {}


def offset(zone, seconds):
    """The offset from UTC in a zone at a time, both in seconds."""
    year = civil(seconds // DAY)[0]
    if year not in _SUMMERS:
        _SUMMERS[year] = tuple(last_sunday(year, month) * DAY + 3600 for month in (3, 10))
    begin, end = _SUMMERS[year]
    return STANDARD[zone] + (3600 if begin <= seconds < end else 0)


def midnight(zone, day):
    """The time at which a day begins in a zone, in seconds since 1970."""
    at = day * DAY - STANDARD[zone]
    return day * DAY - offset(zone, at)
