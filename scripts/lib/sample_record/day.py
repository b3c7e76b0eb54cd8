"""What happens on a day of a made-up person: when they sleep, walk and train, minute by minute, and what they wear and carry.

Nothing here knows how a device notes it, or what a file looks like.
"""
import math

from . import clock

# Stages of a night, as HealthKit names them.
CORE, DEEP, REM, AWAKE = "AsleepCore", "AsleepDeep", "AsleepREM", "Awake"


class Workout:
    """A training session: what, when (in minutes of the day), how far (metres), and how hard (0 to 1)."""

    def __init__(self, activity, start, minutes, distance, effort):
        self.activity, self.start, self.minutes, self.distance, self.effort = activity, start, minutes, distance, effort

    @property
    def end(self):
        return self.start + self.minutes


class Day:
    """One day of a person's life, from local midnight to local midnight where they woke up."""

    def __init__(self, person, day, first_day):
        self.person, self.day = person, day
        self.rng = person.random("day %d" % day)
        self.zone = person.zone(day)
        self.begin = clock.midnight(self.zone, day)
        self.end = clock.midnight(person.zone(day + 1), day + 1)
        self.minutes = (self.end - self.begin) // 60
        self.is_ill, self.is_free = person.is_ill(day), person.is_free(day)
        self.weekday = clock.weekday(day)
        self.season = self.warmth()
        self.sleep()
        self.devices(first_day)
        self.steps = [0] * self.minutes
        self.workouts = []
        self.train()
        self.walk()

    def warmth(self):
        """From -1 in the depth of winter to 1 in high summer."""
        year, _, _ = clock.civil(self.day)
        return math.cos((self.day - clock.days_since_1970(year, 7, 20)) / 365.25 * 2 * math.pi)

    def sleep(self):
        """Plans the night that ends on this day, as minutes from its midnight, and perhaps a nap."""
        rng, person = self.rng, self.person
        late = 70 if self.is_free and not self.is_ill else 0
        self.wakes = max(200, round(person.wakes + late + rng.gauss(0, 14)))
        length = person.sleeps + (35 if late else 0) + (80 if self.is_ill else 0) - 12 * self.season + rng.gauss(0, 26)
        self.to_bed = round(self.wakes - min(660, max(270, length)))
        self.nap = None
        if self.weekday == 6 and rng.random() < 0.3 or self.is_ill and rng.random() < 0.7:
            start = rng.randrange(810, 870)
            self.nap = (start, start + rng.randrange(25, 75))

    def devices(self, first_day):
        """Decides when the watch is worn and which phones are carried; [start, end) in minutes of the day."""
        rng, person = self.rng, self.person
        charging = rng.randrange(1180, 1240)
        charged = charging + rng.randrange(35, 70)
        self.has_dead_night = rng.random() < 0.04
        forgotten = rng.random() < 0.025
        start = self.wakes + 25 if self.has_dead_night else 0
        self.worn = [] if forgotten or not person.has_watch else [(start, charging), (charged, self.minutes)]
        self.wears_at_night = person.has_watch and not forgotten and not self.has_dead_night
        self.has_second_phone = person.has_second_phone_on(self.day, first_day)

    def is_worn(self, minute):
        return any(start <= minute < end for start, end in self.worn)

    def wears(self, start, end):
        """Whether the watch is worn through all of these minutes."""
        return any(a <= start and end <= b for a, b in self.worn)

    # Training

    def train(self):
        """A plan of twelve weeks towards a half marathon, with every fourth week easier; cycling and strength beside it."""
        rng, person, weekday = self.rng, self.person, self.weekday
        if self.is_ill or self.person.is_ill(self.day - 1) or self.person.is_ill(self.day - 2):
            return
        week = (self.day + 3) // 7 % 12
        easy = 0.65 if week % 4 == 3 else 1.0
        pace = 5.6 + max(0, person.age - 35) * 0.03 - week * 0.02 + rng.gauss(0, 0.12)  # Minutes a kilometre.
        run = None
        if person.runs and rng.random() < 0.9:
            if weekday == 1:
                run = (5.2 + week * 0.25) * easy, 0.68, 1090
            elif weekday == 3:
                run = (6 + week * 0.2) * easy, 0.82, 1095
            elif weekday == 6:
                run = (21.0975 if week == 11 else (8 + week * 0.95) * easy), 0.9 if week == 11 else 0.72, 570
        if run:
            distance, effort, start = run
            minutes = max(12, round(distance * (pace - (0.5 if effort > 0.8 else 0))))
            self.workouts.append(Workout("Running", start + rng.randrange(25), minutes, round(distance * 1000), effort))
        elif person.cycles and weekday == 5 and self.season > -0.4 and rng.random() < 0.6:
            minutes = rng.randrange(60, 150)
            self.workouts.append(Workout(
                "Cycling", 640 + rng.randrange(60), minutes, round(minutes * rng.uniform(350, 420)), 0.6))
        elif weekday in (0, 4) and person.age < 75 and not self.is_away and rng.random() < 0.45:
            self.workouts.append(Workout("TraditionalStrengthTraining", 1090 + rng.randrange(15), rng.randrange(30, 50), 0, 0.5))
        elif self.is_away and rng.random() < 0.4:
            minutes = rng.randrange(20, 45)
            self.workouts.append(Workout("Swimming", 660 + rng.randrange(40), minutes, minutes * 34, 0.6))
        # A workout without the watch is not noted by any device.
        self.workouts = [w for w in self.workouts if self.wears(w.start, w.end) or not person.has_watch]
        for workout in self.workouts:
            if workout.activity == "Running":
                for minute in range(workout.start, workout.end):
                    self.steps[minute] = round(workout.distance / workout.minutes / 1.05) + rng.randrange(-4, 5)

    @property
    def is_away(self):
        return self.zone != clock.HOME

    # Walking

    def bout(self, start, minutes, cadence):
        """Walks from a minute on, where nothing else happens yet."""
        rng = self.rng
        for minute in range(start, min(start + minutes, 1345)):
            busy = any(w.start - 5 <= minute < w.end + 5 for w in self.workouts)
            resting = minute < self.wakes or self.nap and self.nap[0] <= minute < self.nap[1]
            if not busy and not resting and not self.steps[minute]:
                self.steps[minute] = max(4, round(cadence + rng.gauss(0, 5)))

    def walk(self):
        rng, person = self.rng, self.person
        factor = person.steps / 6900 * (1 + 0.12 * self.season)
        if self.is_ill:
            factor *= 0.22
        if self.is_away:
            factor *= 1.55
        wakes = self.wakes

        def minutes(count):
            return max(1, round(count * factor * rng.uniform(0.75, 1.25)))

        for _ in range(rng.randrange(3, 6)):
            self.bout(wakes + rng.randrange(8, 60), 2, 45)
        if not self.is_free:
            self.bout(wakes + 62 + rng.randrange(8), minutes(11), 108)
            self.bout(1055 + rng.randrange(25), minutes(12), 106)
            self.bout(745 + rng.randrange(20), minutes(10), 98)
            for hour in range(9, 17):
                self.bout(hour * 60 + rng.randrange(50), minutes(2.5), 70)
        else:
            for hour in range(max(8, wakes // 60 + 1), 20):
                if rng.random() < 0.75:
                    self.bout(hour * 60 + rng.randrange(45), minutes(3.5), 60)
            if rng.random() < 0.85:
                self.bout(840 + rng.randrange(60), minutes(30 if self.weekday == 6 else 24), 104)
            if self.is_away:
                self.bout(1150 + rng.randrange(20), minutes(18), 92)
        if rng.random() < 0.6:
            self.bout(1130 + rng.randrange(60), minutes(9), 95)
        for hour in range(18, 22):
            self.bout(hour * 60 + rng.randrange(50), minutes(2), 50)

    def carries(self, minute):
        """Whether the phone is in a pocket: outdoors mostly, at home now and then, on no run but the longest."""
        for workout in self.workouts:
            if workout.start <= minute < workout.end:
                return workout.activity == "Running" and workout.minutes > 75
        long_walk = self.steps[minute] > 85
        return long_walk or (minute // 60 * 7 + self.day) % 5 < 2

    def carries_second(self, minute):
        return self.has_second_phone and 520 <= minute < 1080

    # The night

    def night(self):
        """The stages of the night as (stage, start, end) in minutes from midnight; times before it are negative."""
        rng = self.person.random("night %d" % self.day)
        stages, at, cycle = [], self.to_bed + rng.randrange(6, 22), 0
        stop = self.wakes - rng.randrange(0, 6)

        def add(stage, length):
            nonlocal at
            end = min(stop, at + max(3, round(length)))
            if end > at:
                if stages and stages[-1][0] == stage:
                    stages[-1] = (stage, stages[-1][1], end)
                else:
                    stages.append((stage, at, end))
            at = end

        while at < stop:
            add(CORE, rng.gauss(28, 7))
            if cycle < 3:
                add(DEEP, rng.gauss(30 - 8 * cycle, 6))
            add(CORE, rng.gauss(22, 6))
            add(REM, rng.gauss(9 + 7 * cycle, 4))
            if rng.random() < (0.7 if self.is_ill else 0.45):
                add(AWAKE, rng.gauss(6, 3))
            cycle += 1
        if stages and stages[-1][0] == AWAKE:
            stages.pop()
        return stages
