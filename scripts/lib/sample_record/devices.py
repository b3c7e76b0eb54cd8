"""What the devices of a made-up person note of a day: samples, as HealthKit would have them.

A density says how often they look: a watch looks at the heart every five minutes, and one that was thinned out, once an
hour. The totals of a day are the same at every density.
"""
import math
from collections import namedtuple

from . import day as days

QUANTITY, CATEGORY = "HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier"
WATCH, PHONE, SECOND_PHONE, SCALE, CUFF, DIARY, HEALTH = range(7)
# Samples a day of somebody with a watch, as exports of such people have them.
REAL_DENSITY = 1500

# Times in seconds since 1970; the value is the text that an export prints; created is seconds after the end.
Sample = namedtuple("Sample", "type unit source start end value created metadata beats", defaults=(5, (), ()))
# A blood pressure, a workout as it was noted, and an electrocardiogram.
Pressure = namedtuple("Pressure", "time systolic diastolic")
Session = namedtuple("Session", "workout start end energy pulse zone route")
Electrocardiogram = namedtuple("Electrocardiogram", "time pulse classification")


def number(value):
    """A value as Apple prints it."""
    return "%g" % value


class Notes:
    """The samples of one day."""

    def __init__(self, day, density):
        self.day, self.person = day, day.person
        self.rng = day.person.random("notes of %d" % day.day)
        self.rarer = REAL_DENSITY / density
        self.samples, self.pressures, self.sessions, self.recordings = [], [], [], []
        self.energy = self.energy_by_minute()
        if self.person.has_watch:
            self.watch()
        self.phones()
        self.others()

    def at(self, minute):
        return self.day.begin + 60 * minute

    def add(self, name, unit, source, start, end, value, *rest, kind=QUANTITY):
        self.samples.append(Sample(kind + name, unit, source, start, end, value, *rest))

    def minutes(self, usual, most=240):
        """How long a span is of which there is one sample."""
        return max(1, min(most, round(usual * self.rarer)))

    # Movement

    def energy_by_minute(self):
        """Active energy in kilocalories, minute by minute."""
        person, day = self.person, self.day
        weight = person.mass / 70
        energy = [weight * (0.045 * steps if steps else 0) for steps in day.steps]
        for workout in day.workouts:
            for minute in range(workout.start, workout.end):
                energy[minute] = weight * (4 + 9.5 * workout.effort)
        for minute in range(day.wakes, 1350):
            if not energy[minute] and minute % 3 == 0:
                energy[minute] = 0.35 * weight
        return energy

    def spans(self, values, sees, minutes):
        """(start, end, sum) of what a device sees, in spans of so many minutes; each begins and ends with movement."""
        span = None
        for minute, value in enumerate(values):
            if span and minute // minutes != span[0] // minutes:
                yield tuple(span)
                span = None
            if value and sees(minute):
                if span is None:
                    span = [minute, minute + 1, 0]
                span[1], span[2] = minute + 1, span[2] + value
        if span:
            yield tuple(span)

    def movement(self, source, sees, minutes, counts, reaches=0):
        """Steps and distance of a device that counts so much of what there was, and notes up to some minutes too much."""
        person, day, rng = self.person, self.day, self.rng
        for start, end, steps in self.spans(day.steps, sees, minutes):
            # Within its span, so that what one device notes never overlaps.
            limit = min((end - 1) // minutes * minutes + minutes, day.minutes)
            end = min(limit, end + rng.randrange(reaches + 1))
            steps = round(steps * counts)
            running = any(w.activity == "Running" and w.start < end and start < w.end for w in day.workouts)
            stride = 1.05 if running else person.stride
            if steps:
                self.add("StepCount", "count", source, self.at(start), self.at(end), "%d" % steps)
                self.add(
                    "DistanceWalkingRunning", "km", source, self.at(start), self.at(end), number(steps * stride / 1000))

    def phones(self):
        day, rng = self.day, self.rng
        self.movement(PHONE, day.carries, self.minutes(10, 120), rng.uniform(0.93, 1.02), reaches=2)
        if day.has_second_phone:
            self.movement(SECOND_PHONE, day.carries_second, self.minutes(10, 120), rng.uniform(0.9, 1.0), reaches=1)
        climbs = [1 if steps > 80 and minute % 29 == day.day % 29 else 0 for minute, steps in enumerate(day.steps)]
        for start, end, floors in self.spans(climbs, day.carries, self.minutes(15)):
            self.add("FlightsClimbed", "count", PHONE, self.at(start), self.at(end), "%d" % floors)
        walks = [1 if steps > 92 else 0 for steps in day.steps]
        for start, end, length in self.spans(walks, day.carries, self.minutes(60)):
            if length > 6:
                speed = 4.9 - max(0, self.person.age - 60) * 0.03 + rng.gauss(0, 0.25)
                self.add("WalkingSpeed", "km/hr", PHONE, self.at(start), self.at(end), number(round(speed, 2)))
                self.add(
                    "WalkingStepLength", "cm", PHONE, self.at(start), self.at(end),
                    number(round(self.person.stride * 100 + rng.gauss(0, 2))))
        night = day.night()
        self.add(
            "SleepAnalysis", None, PHONE, self.at(day.to_bed), self.at(max(day.wakes, night[-1][2])),
            "HKCategoryValueSleepAnalysisInBed", 5, self.zone(), kind=CATEGORY)

    def zone(self):
        return (("HKTimeZone", self.day.zone),)

    # The watch

    def watch(self):
        day = self.day
        self.movement(WATCH, day.is_worn, self.minutes(5, 120), 1)
        self.energy_samples()
        self.heart()
        if day.wears_at_night:
            self.sleep()
        self.daily()
        for workout in day.workouts:
            self.session(workout)
        every = 45
        if day.day % every == 17 and day.wears(1260, 1262):
            pulse = round(self.person.resting + 12 + self.rng.gauss(0, 3))
            self.recordings.append(Electrocardiogram(
                self.at(1260) + self.rng.randrange(60), pulse, "AtrialFibrillation" if self.person.age > 75 else "SinusRhythm"))

    def energy_samples(self):
        day, rng = self.day, self.rng
        for start, end, energy in self.spans(self.energy, day.is_worn, self.minutes(6, 120)):
            self.add("ActiveEnergyBurned", "kcal", WATCH, self.at(start), self.at(end), number(round(energy, 3)))
        basal = (10 * self.person.mass + 625 * self.person.height - 5 * self.person.age + (5 if self.person.is_male else -161)) / 1440
        always = [basal] * day.minutes
        for start, end, energy in self.spans(always, day.is_worn, self.minutes(12)):
            self.add("BasalEnergyBurned", "kcal", WATCH, self.at(start), self.at(end), number(round(energy, 3)))
        brisk = [1 if steps > 98 else 0 for steps in day.steps]
        for workout in day.workouts:
            brisk[workout.start:workout.end] = [1] * workout.minutes
        for start, end, count in self.spans(brisk, day.is_worn, self.minutes(2, 60)):
            self.add("AppleExerciseTime", "min", WATCH, self.at(start), self.at(end), "%d" % count)
        for hour in range(day.wakes // 60 + 1, 23):
            if day.wears(hour * 60, hour * 60 + 59):
                stood = any(day.steps[hour * 60:hour * 60 + 60])
                self.add(
                    "AppleStandHour", None, WATCH, self.at(hour * 60), self.at(hour * 60 + 60),
                    "HKCategoryValueAppleStandHour" + ("Stood" if stood else "Idle"), kind=CATEGORY)
        light = [1 if steps > 95 and 420 < minute < 1000 + 180 * day.season else 0 for minute, steps in enumerate(day.steps)]
        for start, end, count in self.spans(light, day.is_worn, self.minutes(20)):
            self.add("TimeInDaylight", "min", WATCH, self.at(start), self.at(end), "%d" % count)
        span = self.minutes(30)
        for start in range(day.wakes, 1380, span):
            if day.wears(start, start + span):
                level = rng.gauss(58, 5) + (8 if any(day.steps[start:start + span]) else 0)
                self.add(
                    "EnvironmentalAudioExposure", "dBASPL", WATCH, self.at(start), self.at(start + span),
                    number(round(level, 4)))

    def resting(self):
        """The resting heart rate of the day: lower in training, higher in illness and heat."""
        day = self.day
        return self.person.resting + (11 if day.is_ill else 0) + 1.2 * day.season + (day.day * 37 % 5 - 2) * 0.6

    def pulse(self, minute, noise):
        day, resting = self.day, self.resting()
        for workout in day.workouts:
            if workout.start <= minute < workout.end:
                warm = min(1.0, (minute - workout.start + 1) / 8)
                drift = 0.05 * (minute - workout.start) / workout.minutes
                reserve = self.person.fittest - resting
                return resting + reserve * (0.35 + (workout.effort - 0.35 + drift) * warm) + noise * 0.4
            if workout.end <= minute < workout.end + 12:
                return resting + 45 * (1 - (minute - workout.end) / 12) + noise
        if minute < day.wakes or minute > 1400:
            return resting - 3 + 4 * math.sin(minute / 14) * 0.6 + noise * 0.5
        return resting + 13 + (32 if day.steps[minute] > 85 else 14 if day.steps[minute] else 0) + noise

    def heart(self):
        day, rng = self.day, self.rng
        at, step = rng.randrange(0, 200), 300 * self.rarer
        in_workout = max(5, min(120, 5 * self.rarer))
        while at < day.minutes * 60:
            minute = at // 60
            if day.is_worn(minute):
                training = any(w.start <= minute < w.end for w in day.workouts)
                context = 2 if training or day.steps[minute] > 85 else 1 if minute < day.wakes else 0
                beats = round(self.pulse(minute, rng.gauss(0, 3.5)))
                self.add(
                    "HeartRate", "count/min", WATCH, day.begin + at, day.begin + at, "%d" % max(36, beats), 5,
                    (("HKMetadataKeyHeartRateMotionContext", context),))
                at += round(in_workout if training else step * rng.uniform(0.6, 1.4))
            else:
                at += 600
        for hour in range(1, 22, 4 if self.rarer < 3 else 12):
            minute = hour * 60 + rng.randrange(50)
            if day.wears(minute, minute + 2):
                self.variability(minute)

    def variability(self, minute):
        """A minute of beats, and how much they varied. Beats carry the clock on the wall."""
        rng, start = self.rng, self.at(minute)
        value = max(8, self.person.variability * (0.6 if self.day.is_ill else 1) * rng.lognormvariate(0, 0.22))
        at, beats = 0.4, []
        resting = self.resting() + 4
        while at < (58 if self.rarer < 2 else 8):
            length = 60 / resting + rng.gauss(0, value / 1000)
            at += max(0.4, length)
            beats.append((start + at, round(60 / max(0.4, length))))
        self.add(
            "HeartRateVariabilitySDNN", "ms", WATCH, start, start + 60, number(round(value, 4)), 5, (), tuple(beats))

    def sleep(self):
        day, rng = self.day, self.rng
        night = day.night()
        for stage, start, end in night + ([(days.CORE, *day.nap)] if day.nap and day.wears(*day.nap) else []):
            self.add(
                "SleepAnalysis", None, WATCH, self.at(start), self.at(end), "HKCategoryValueSleepAnalysis" + stage, 5,
                self.zone(), kind=CATEGORY)
        step = self.minutes(15, 120)
        for minute in range(night[0][1], night[-1][2] - 2, step):
            rate = 14.5 + (2.5 if day.is_ill else 0) + rng.gauss(0, 0.7)
            self.add("RespiratoryRate", "count/min", WATCH, self.at(minute), self.at(minute), number(round(rate, 1)))
            if minute // step % 2 == 0:
                oxygen = 0.965 - (0.02 if day.is_ill else 0) + rng.gauss(0, 0.008)
                self.add(
                    "OxygenSaturation", "%", WATCH, self.at(minute + 1), self.at(minute + 1),
                    number(round(min(1, oxygen), 2)))
        self.add(
            "AppleSleepingWristTemperature", "degC", WATCH, self.at(night[0][1]), self.at(night[-1][2]),
            number(round(34.9 + (1.1 if day.is_ill else 0) + rng.gauss(0, 0.2), 3)))

    def daily(self):
        day, rng = self.day, self.rng
        if not day.worn:
            return
        start, end = self.at(day.worn[0][0]), self.at(1300)
        self.add("RestingHeartRate", "count/min", WATCH, start, end, "%d" % round(self.resting()))
        walking = self.resting() + 42 + rng.gauss(0, 2)
        self.add("WalkingHeartRateAverage", "count/min", WATCH, start, end, number(round(walking, 1)))

    def session(self, workout):
        """A workout, what it says of itself, and where it went."""
        person = self.person
        start, end = self.at(workout.start), self.at(workout.end)
        energy = round(sum(self.energy[workout.start:workout.end]), 3)
        pulse = [self.pulse(minute, 0) for minute in range(workout.start, workout.end)]
        away = self.day.zone
        is_outside = workout.activity in ("Running", "Cycling")
        self.sessions.append(Session(workout, start, end, energy, pulse, away, is_outside))
        if workout.activity == "Running":
            fitness = 15.3 * person.fittest / person.resting * 0.72 + self.rng.gauss(0, 0.3)
            self.add(
                "VO2Max", "mL/min\u00b7kg", WATCH, end, end, number(round(fitness, 2)), 5,
                (("HKVO2MaxTestType", 2),))
        elif workout.activity == "Cycling":
            share = workout.distance / workout.minutes
            for first in range(workout.start, workout.end, self.minutes(5)):
                last = min(workout.end, first + self.minutes(5))
                self.add(
                    "DistanceCycling", "km", WATCH, self.at(first), self.at(last),
                    number(round(share * (last - first) / 1000, 5)))
        elif workout.activity == "Swimming":
            self.add("DistanceSwimming", "m", WATCH, start, end, "%d" % workout.distance)

    # What people measure and write down

    def others(self):
        day, rng, person = self.day, self.rng, self.person
        if person.has_scale and not day.is_away and rng.random() < 0.85:
            at = self.at(day.wakes + 12) + rng.randrange(300)
            years = (day.day - 17897) / 365.25
            mass = person.mass + person.yearly_change * years - 0.9 * day.season + rng.gauss(0, 0.28)
            self.add("BodyMass", "kg", SCALE, at, at, number(round(mass, 1)))
            if day.weekday in (0, 3):
                fat = 0.10 + 0.006 * (mass / person.height ** 2 - 10) + (0 if person.is_male else 0.08)
                self.add("BodyFatPercentage", "%", SCALE, at, at, number(round(fat + rng.gauss(0, 0.003), 3)))
        if person.has_cuff:
            for minute, higher in ((day.wakes + 20, 4), (1225, 0)):
                systolic = round(person.pressure + higher - 2 * day.season + rng.gauss(0, 5))
                self.pressures.append(Pressure(
                    self.at(minute) + rng.randrange(600), systolic, round(systolic * 0.63 + rng.gauss(0, 3))))
        if day.is_ill:
            for minute in (day.wakes + 30, 800, 1250):
                at = self.at(minute) + rng.randrange(900)
                self.add("BodyTemperature", "degC", HEALTH, at, at, number(round(37.9 + rng.gauss(0, 0.4), 1)), 5, (
                    ("HKWasUserEntered", 1),))
        if self.rarer < 6:
            for hour in (8, 11, 14, 17, 20):
                at = self.at(hour * 60) + rng.randrange(3000)
                self.add("DietaryWater", "mL", DIARY, at, at, "%d" % (150 + 50 * rng.randrange(5)))
        for hour in (8, 14) if person.works else (9,):
            at = self.at(hour * 60) + rng.randrange(3000)
            self.add("DietaryCaffeine", "mg", DIARY, at, at, "%d" % rng.choice([65, 80, 95]))
        if day.weekday in (2, 6) and rng.random() < 0.5:
            at = self.at(1290)
            self.add("MindfulSession", None, DIARY, at, at + 600, "HKCategoryValueNotApplicable", kind=CATEGORY)


def route(person, session, every):
    """The points of a course as (seconds, latitude, longitude, elevation, speed), one in so many seconds.

    A round is a closed curve; a long run goes round it several times, and each time a little beside where it was.
    """
    workout, rng = session.workout, person.random("route at %d" % session.start)
    latitude, longitude = (52.5134, 13.3601) if session.zone.endswith("Berlin") else (38.7009, -9.2052)
    length = person.round * (6 if workout.activity == "Cycling" else 1)
    # The mean radius of a curve of that length; it is some seven per cent longer than a circle.
    radius = length / (2 * math.pi * 1.07)
    seconds, speed = workout.minutes * 60, workout.distance / workout.minutes / 60
    travelled, drift = 0.0, 0.0
    for second in range(0, seconds + 1, every):
        angle = travelled / length * 2 * math.pi
        shape = 1 + sum(size * math.cos((n + 2) * angle + turn) for n, (size, turn) in enumerate(person.course))
        drift = 0.9 * drift + rng.gauss(0, 0.8)
        away = radius * shape + drift
        now = speed * (1 + 0.08 * math.sin(second / 240))
        yield (
            session.start + second, latitude + away * math.sin(angle) / 111_195,
            longitude + away * math.cos(angle) / (111_195 * math.cos(math.radians(latitude))),
            34 + 6 * math.sin(angle * 2) + 3 * math.cos(angle * 5), now)
        travelled += now * every
