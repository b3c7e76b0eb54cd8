"""Who a made-up person is: age, habits, devices, and the calendar of their years."""
import random

from . import clock

# The first of a long line of people; examples in the documents show this one.
FIRST_SEED = 1
NAMES = [
    "Alex", "Bente", "Casey", "Dana", "Elif", "Femi", "Gita", "Hanne", "Ines", "Jona", "Kim", "Luca", "Mika", "Noor", "Okan",
    "Paula", "Quinn", "Rosa", "Sasha", "Toni", "Uma", "Vera", "Wanda", "Xenia", "Yusuf", "Zoe",
]
BLOOD_TYPES = ["APositive", "ANegative", "BPositive", "ABPositive", "OPositive", "ONegative"]


class Person:
    """A person made from a seed. The same seed makes the same person, whatever is asked of them."""

    def __init__(self, seed):
        self.seed = seed
        rng = self.random("person")
        first = seed == FIRST_SEED
        # Years of age when the record begins: adults of all ages.
        self.age = 32 if first else round(rng.triangular(18, 86, 44))
        self.is_male = rng.random() < 0.5
        self.name = "Robin" if first else rng.choice(NAMES)
        self.birth = (2019 - self.age, rng.randrange(1, 13), rng.randrange(1, 29))
        if first:
            self.birth = (1986, 5, 17)
        self.blood_type = rng.choice(BLOOD_TYPES)
        if first:
            self.blood_type = "ONegative"
        # Of Robin as the bench's export says it.
        self.sex = "Male" if self.is_male else "Female"
        self.has_watch = first or rng.random() < 0.7
        self.has_scale = first or rng.random() < 0.5
        self.has_cuff = first or self.age > 60 or rng.random() < 0.25
        self.has_second_phone = first or rng.random() < 0.2
        self.runs = first or (self.age < 70 and rng.random() < 0.35)
        self.cycles = first or rng.random() < 0.3
        self.works = self.age < 66
        youth = max(0.0, 1 - max(0, self.age - 30) / 70)
        # Steps of an ordinary day without sport.
        self.steps = 6900 if first else rng.triangular(2500, 11000, 6500) * (0.55 + 0.45 * youth)
        self.resting = 56 if first else round(rng.gauss(63, 6))
        self.fittest = 208 - 0.7 * self.age
        self.variability = 52 if first else max(15, rng.gauss(48 - self.age * 0.3, 12))
        self.height = rng.gauss(1.79 if self.is_male else 1.66, 0.06)
        self.mass = 74.5 if first else max(48, rng.gauss(25.3, 3.4) * self.height ** 2)
        self.yearly_change = rng.uniform(-0.8, 0.9)
        self.pressure = 118 if first else round(rng.gauss(112 + self.age * 0.25, 7))
        # Minutes from midnight at which an ordinary working day begins, and of sleep before it.
        self.wakes = 405 if first else round(rng.gauss(410, 35))
        self.sleeps = 450 if first else round(rng.gauss(440, 30))
        self.stride = 0.41 * self.height
        self.watch = "%s\u2019s\u00a0Apple\u00a0Watch" % self.name
        self.phone = "%s\u2019s iPhone" % self.name
        self.second_phone = "%s\u2019s iPhone SE" % self.name
        # Where they run, and how a round goes: radii of a closed curve around a place.
        self.course = [(rng.uniform(0.03, 0.22) / (n + 1), rng.uniform(0, 6.28)) for n in range(5)]
        self.round = rng.uniform(2600, 5200)
        self.year_plans = {}

    def random(self, what):
        """Numbers that depend on nothing but the person and what they are for."""
        return random.Random("%s of %d" % (what, self.seed))

    def plan(self, day):
        """The plan of the year in which a day lies: when they are ill, and when they travel."""
        year = clock.civil(day)[0]
        if year not in self.year_plans:
            rng = self.random("year %d" % year)
            first = clock.days_since_1970(year, 1, 1)
            illness = first + rng.choice([rng.randrange(18, 75), rng.randrange(285, 345)])
            summer = first + rng.randrange(186, 225)
            trip = first + rng.randrange(95, 150)
            self.year_plans[year] = (
                range(illness, illness + rng.randrange(4, 8)),
                [range(summer, summer + rng.randrange(9, 16)), range(trip, trip + rng.randrange(3, 6))],
            )
        return self.year_plans[year]

    def is_ill(self, day):
        return day in self.plan(day)[0]

    def is_away(self, day):
        return any(day in trip for trip in self.plan(day)[1])

    def zone(self, day):
        return clock.AWAY if self.is_away(day) else clock.HOME

    def is_free(self, day):
        """Whether they need not work that day."""
        return not self.works or clock.weekday(day) >= 5 or self.is_away(day) or self.is_ill(day)

    def has_second_phone_on(self, day, first_day):
        """Whether they carry a second phone: at work, from the third week on."""
        return self.has_second_phone and not self.is_free(day) and day >= first_day + 14
