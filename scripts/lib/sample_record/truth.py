"""What the right totals of a made-up record are, computed the slow way: minute by minute, with the rule written down anew.

Of a minute, the highest ranked source that has data there counts: a watch, then phones, the one that came last first. It
shares no code with hpeer.
"""
import json

from . import clock, devices

SUMS = {
    devices.QUANTITY + name: name[:1].lower() + name[1:]
    for name in (
        "StepCount", "DistanceWalkingRunning", "ActiveEnergyBurned", "BasalEnergyBurned", "FlightsClimbed", "AppleExerciseTime",
        "DistanceCycling", "DistanceSwimming", "TimeInDaylight", "DietaryWater", "DietaryCaffeine")
}
SLEEP, HEART, MASS = devices.CATEGORY + "SleepAnalysis", devices.QUANTITY + "HeartRate", devices.QUANTITY + "BodyMass"


class Truth:
    """Hears what an export holds, and says what each day's numbers are: counts, metres, kilocalories, minutes,
    millilitres, grams.

    Days are those of Europe/Berlin.
    """

    def __init__(self):
        self.minutes, self.first, self.days = {}, {}, {}
        self.nights, self.workouts, self.types = {}, [], {}

    def day(self, seconds):
        return clock.date((seconds + clock.offset(clock.HOME, seconds)) // clock.DAY)

    def numbers(self, seconds):
        return self.days.setdefault(self.day(seconds), {})

    def hear(self, sample):
        self.types[sample.type] = self.types.get(sample.type, 0) + 1
        if sample.type in SUMS:
            self.first.setdefault((sample.type, sample.source), sample.start)
            noted = self.minutes.setdefault(sample.type, {}).setdefault(sample.source, {})
            length = max(1, (sample.end - sample.start) // 60)
            for minute in range(sample.start // 60, sample.start // 60 + length):
                value = float(sample.value) * {"km": 1000, "mg": 0.001}.get(sample.unit, 1)
                noted[minute] = noted.get(minute, 0) + value / length
        elif sample.type == HEART:
            heart = self.numbers(sample.start).setdefault("heartRate", {"min": 1e9, "max": 0, "count": 0})
            value = float(sample.value)
            heart.update(min=min(heart["min"], value), max=max(heart["max"], value), count=heart["count"] + 1)
        elif sample.type == MASS:
            self.numbers(sample.start)["bodyMass"] = float(sample.value)
        elif sample.type == SLEEP and sample.source == devices.WATCH:
            stage = sample.value.replace("HKCategoryValueSleepAnalysis", "")
            # A nap lies in the afternoon; it is told apart from the night before it.
            local = (sample.start + clock.offset(clock.HOME, sample.start)) % clock.DAY
            is_nap = 13 * 3600 <= local < 18 * 3600
            end = self.nights.setdefault(self.day(sample.end + (6 * 3600 if local > 18 * 3600 else 0)), {})
            name = "nap" if is_nap else stage
            end[name] = end.get(name, 0) + (sample.end - sample.start) // 60

    def hear_pressure(self, reading):
        pressures = self.numbers(reading.time).setdefault("bloodPressure", [])
        pressures.append([reading.systolic, reading.diastolic])

    def hear_workout(self, session):
        self.workouts.append({
            "start": session.start, "activity": session.workout.activity, "minutes": session.workout.minutes,
            "metres": session.workout.distance, "kilocalories": session.energy})

    def hear_export(self, export, records):
        self.records, self.made, self.seed = records, export.made, export.person.seed

    def rank(self, kind):
        """The sources of a type, the highest ranked first."""
        order = {devices.WATCH: 0, devices.PHONE: 1, devices.SECOND_PHONE: 1}
        return sorted(self.minutes[kind], key=lambda source: (order.get(source, 2), -self.first[kind, source]))

    def json(self):
        for kind in self.minutes:
            ranked = [self.minutes[kind][source] for source in self.rank(kind)]
            for minute in sorted(set().union(*ranked)):
                value = next(noted[minute] for noted in ranked if minute in noted)
                numbers = self.numbers(minute * 60)
                numbers[SUMS[kind]] = numbers.get(SUMS[kind], 0) + value
        for night in self.nights.values():
            night["asleep"] = sum(minutes for stage, minutes in night.items() if stage.startswith("Asleep"))
        return json.dumps({
            "zone": clock.HOME, "seed": self.seed, "made": self.made, "records": self.records, "types": self.types,
            "days": dict(sorted(self.days.items())), "nights": dict(sorted(self.nights.items())), "workouts": self.workouts,
        }, indent=1)
