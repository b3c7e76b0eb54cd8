"""Writes a made-up person's record as Apple's Health export: the XML, workout routes and electrocardiograms."""
import math
import random
import shutil
import tempfile
import uuid
import zipfile

from . import clock, devices
from .day import Day
from .devices import Notes
from .person import Person

FOLDER = "apple_health_export/"
HEADER = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!-- HealthKit Export Version: 14 -->
<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary)*)>
<!ATTLIST HealthData locale CDATA #REQUIRED>
<!ELEMENT ExportDate EMPTY>
<!ATTLIST ExportDate value CDATA #REQUIRED>
<!ELEMENT Record ((MetadataEntry|HeartRateVariabilityMetadataList)*)>
<!ATTLIST Record type CDATA #REQUIRED unit CDATA #IMPLIED value CDATA #IMPLIED sourceName CDATA #REQUIRED>
<!-- The other elements and attributes are declared nowhere, and a reader does not need them. -->
]>
"""
GPX_HEADER = """<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="Apple Health Export" xmlns="http://www.topografix.com/GPX/1/1" \
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.topografix.com/GPX/1/1 http://www.topografix.com/GPX/1/1/gpx.xsd">
  <metadata>
    <time>%s</time>
  </metadata>
  <trk>
    <name>Route %s</name>
    <trkseg>
"""
# 2019-01-01.
FIRST_DAY = 17897
CLOCK = ["%02d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60) for s in range(clock.DAY)]
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
# An export is made in the evening; the later one a day after it, when the phone has travelled.
EVENING, LATER = 1200, 1145


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


class AppleExport:
    """An export of a person: every date in it has the offset of the moment at which it was made.

    - seed: another seed is another person.
    - records: how many there are, about; days: how many days, in place of that.
    - density: records a day.
    - is_later: the export that the same person makes a day later.
    - has_side_files: whether there are routes and electrocardiograms.
    - truth: a `truth.Truth` that hears of everything that is written, or None.
    """

    def __init__(self, seed=1, records=None, days=None, density=None, is_later=False, has_side_files=True, truth=None):
        self.person = Person(seed)
        self.records, self.days, self.truth = records, days, truth
        # At least some weeks of life, however few records there are to be, and the density of real ones for long lives.
        self.density = density or (devices.REAL_DENSITY if records is None else max(100, min(devices.REAL_DENSITY, records / 60)))
        self.is_later, self.has_side_files = is_later, has_side_files
        self.addresses = random.Random("addresses %d %s" % (seed, is_later))
        self.dates = {}

    # Collecting

    def collect(self):
        """The notes of all days, until there are as many records as there shall be, and of a day more in a later export."""
        notes, count, number = [], 0, 0
        while count < self.records if self.days is None else number < self.days:
            notes.append(Notes(Day(self.person, FIRST_DAY + number, FIRST_DAY), self.density))
            count += len(notes[-1].samples) + 2 * len(notes[-1].pressures)
            number += 1
        if self.is_later:
            notes.append(Notes(Day(self.person, FIRST_DAY + number, FIRST_DAY), self.density))
        last = notes[-1].day
        self.made = last.begin + 60 * (LATER if self.is_later else EVENING)
        self.offset = clock.offset(clock.AWAY if self.is_later else clock.HOME, self.made)
        self.zone = " +%02d00" % (self.offset // 3600)
        return notes

    # Text

    def date(self, seconds):
        days, time = divmod(seconds + self.offset, clock.DAY)
        day = self.dates.get(days)
        if day is None:
            day = self.dates[days] = clock.date(days) + " "
        return day + CLOCK[time] + self.zone

    def wall_clock(self, seconds, zone):
        """Local date and time on a wall, as Apple names routes: 2019-01-06_9.12am."""
        days, time = divmod(seconds + clock.offset(zone, seconds), clock.DAY)
        hour, minute = time // 3600, time // 60 % 60
        return "%s_%d.%02d%s" % (clock.date(days), (hour + 11) % 12 + 1, minute, "am" if hour < 12 else "pm")

    def source(self, source, time):
        """The attributes of a source and its device. Apple prints another address of the device in each record."""
        person = self.person
        version = (time - FIRST_DAY * clock.DAY) // (120 * clock.DAY)
        name, release, device = {
            devices.WATCH: (person.watch, "%d.%d" % (5 + version // 3, version % 3), "name:Apple Watch, manufacturer:Apple Inc., "
                            "model:Watch, hardware:Watch6,2"),
            devices.PHONE: (person.phone, "%d.%d" % (12 + version // 3, version % 3), "name:iPhone, manufacturer:Apple Inc., "
                            "model:iPhone, hardware:iPhone14,5"),
            devices.SECOND_PHONE: (person.second_phone, "%d.%d" % (12 + version // 3, version % 3), "name:iPhone, "
                                   "manufacturer:Apple Inc., model:iPhone, hardware:iPhone12,8"),
            devices.SCALE: ("Bathroom Scale", "4.2", None),
            devices.CUFF: ("Cuff & Co", "3.1", None),
            devices.DIARY: ("Food Diary", "7.11.0", None),
            devices.HEALTH: ("Health", "12.1", None),
        }[source]
        text = ' sourceName="%s" sourceVersion="%s"' % (escape(name), release)
        if device:
            address = self.addresses.getrandbits(33) | 1 << 33
            text += ' device="&lt;&lt;HKDevice: 0x%x&gt;, %s, software:%s&gt;"' % (address, device, release)
        return text

    def record(self, sample):
        head = ' <Record type="%s"%s%s creationDate="%s" startDate="%s" endDate="%s" value="%s"' % (
            sample.type, self.source(sample.source, sample.start), ' unit="%s"' % sample.unit if sample.unit else "",
            self.date(sample.end + sample.created), self.date(sample.start), self.date(sample.end), sample.value)
        if not sample.metadata and not sample.beats:
            return head + "/>\n"
        inside = "".join('  <MetadataEntry key="%s" value="%s"/>\n' % entry for entry in sample.metadata)
        if sample.beats:
            shift = clock.offset(clock.HOME, sample.start)
            inside += "  <HeartRateVariabilityMetadataList>\n" + "".join(
                '   <InstantaneousBeatsPerMinute bpm="%d" time="%s.%02d"/>\n' % (
                    bpm, CLOCK[(int(time) + shift) % clock.DAY], time % 1 * 100) for time, bpm in sample.beats
            ) + "  </HeartRateVariabilityMetadataList>\n"
        return head + ">\n" + inside + " </Record>\n"

    def pressure(self, reading, kind, value, indent):
        date = self.date(reading.time)
        return '%s<Record type="HKQuantityTypeIdentifierBloodPressure%s"%s unit="mmHg" creationDate="%s" startDate="%s" ' \
            'endDate="%s" value="%d"/>\n' % (
                indent, kind, self.source(devices.CUFF, reading.time), self.date(reading.time + 2), date, date, value)

    def correlation(self, reading):
        date = self.date(reading.time)
        return (
            ' <Correlation type="HKCorrelationTypeIdentifierBloodPressure"%s creationDate="%s" startDate="%s" endDate="%s">\n'
            '%s%s </Correlation>\n' % (
                self.source(devices.CUFF, reading.time), self.date(reading.time + 2), date, date,
                self.pressure(reading, "Systolic", reading.systolic, "  "),
                self.pressure(reading, "Diastolic", reading.diastolic, "  ")))

    def workout(self, session):
        workout, first, last = session.workout, self.date(session.start), self.date(session.end)
        source = self.source(devices.WATCH, session.start)
        rng = self.person.random("workout at %d" % session.start)

        def statistics(name, unit, numbers):
            return '  <WorkoutStatistics type="HKQuantityTypeIdentifier%s" startDate="%s" endDate="%s" %s unit="%s"/>\n' % (
                name, first, last, " ".join('%s="%s"' % (key, devices.number(value)) for key, value in numbers), unit)

        text = (
            ' <Workout workoutActivityType="HKWorkoutActivityType%s" duration="%s" durationUnit="min"%s creationDate="%s"'
            ' startDate="%s" endDate="%s">\n  <MetadataEntry key="HKTimeZone" value="%s"/>\n'
            % (workout.activity, float(workout.minutes), source, self.date(session.end + 3), first, last, session.zone))
        if session.route:
            text += '  <MetadataEntry key="HKElevationAscended" value="%d cm"/>\n' % (workout.distance * rng.uniform(0.3, 0.9))
            text += '  <MetadataEntry key="HKIndoorWorkout" value="0"/>\n'
            pace = workout.minutes * 60 / workout.distance * 1000
            for lap in range(workout.distance // 1000):
                text += (
                    '  <WorkoutEvent type="HKWorkoutEventTypeSegment" date="%s" duration="%s" durationUnit="min"/>\n'
                    % (self.date(session.start + round(lap * pace)), pace / 60))
        text += '  <WorkoutActivity uuid="%s" startDate="%s" endDate="%s" duration="%s" durationUnit="min"/>\n' % (
            str(uuid.UUID(int=rng.getrandbits(128), version=4)).upper(), first, last, float(workout.minutes))
        text += statistics("ActiveEnergyBurned", "kcal", [("sum", session.energy)])
        name = {"Running": "DistanceWalkingRunning", "Cycling": "DistanceCycling", "Swimming": "DistanceSwimming"}.get(workout.activity)
        if name:
            unit, size = ("m", 1) if name == "DistanceSwimming" else ("km", 1000)
            text += statistics(name, unit, [("sum", workout.distance / size)])
        text += statistics("HeartRate", "count/min", [
            ("average", sum(session.pulse) / len(session.pulse)), ("minimum", min(session.pulse)),
            ("maximum", max(session.pulse))])
        if session.route and self.has_side_files:
            text += (
                '  <WorkoutRoute%s creationDate="%s" startDate="%s" endDate="%s">\n'
                '   <MetadataEntry key="HKMetadataKeySyncVersion" value="2"/>\n   <FileReference path="/%s"/>\n  </WorkoutRoute>\n'
                % (source, self.date(session.end + 3), first, last, self.route_path(session)))
        return text + " </Workout>\n"

    def route_path(self, session):
        return "workout-routes/route_%s.gpx" % self.wall_clock(session.start, session.zone)

    def gpx(self, session):
        def iso(seconds):
            return "%sT%sZ" % (clock.date(seconds // clock.DAY), CLOCK[seconds % clock.DAY])

        text = [GPX_HEADER % (iso(self.made), self.wall_clock(session.start, session.zone).replace("_", " ").replace(".", ":"))]
        every = 1 if self.density >= devices.REAL_DENSITY else 5
        for time, latitude, longitude, height, speed in devices.route(self.person, session, every):
            text.append(
                '      <trkpt lon="%.6f" lat="%.6f"><ele>%.6f</ele><time>%s</time><extensions><speed>%.6f</speed>'
                "<course>0.000000</course><hAcc>3.100000</hAcc><vAcc>2.400000</vAcc></extensions></trkpt>\n"
                % (longitude, latitude, height, iso(time), speed))
        text.append("    </trkseg>\n  </trk>\n</gpx>\n")
        return "".join(text)

    def electrocardiogram(self, recording):
        """Half a minute at 512 Hz: the waves P, Q, R, S and T, a beat after the other."""
        person, rng = self.person, self.person.random("electrocardiogram at %d" % recording.time)
        day = person.birth
        text = [
            'Name,%s Example\nDate of Birth,"%s %d, %d"\nRecorded Date,%s\nClassification,%s\nSymptoms,\nSoftware Version,1.90\n'
            'Device,"Watch6,2"\nSample Rate,512 hertz\n\n\nLead,Lead I\nUnit,\u00b5V\n\n\n' % (
                person.name, MONTHS[day[1] - 1], day[2], day[0], self.date(recording.time),
                "Sinus Rhythm" if recording.classification == "SinusRhythm" else "Atrial Fibrillation")]
        waves = [(-0.2, 0.025, 90), (-0.03, 0.009, -110), (0, 0.011, 900), (0.032, 0.011, -190), (0.26, 0.045, 210)]
        beats, at = [], 0.3
        spread = 0.15 if recording.classification != "SinusRhythm" else 0.02
        while at < 31:
            beats.append(at)
            at += 60 / recording.pulse * (1 + rng.gauss(0, spread))
        near = 0
        for index in range(15_360):
            time = index / 512
            while near + 1 < len(beats) and beats[near + 1] - time < 0.35:
                near += 1
            value = rng.gauss(0, 6) + 25 * math.sin(time * 1.6)
            for beat in beats[max(0, near - 1):near + 1]:
                for offset, width, height in waves:
                    away = (time - beat - offset) / width
                    if -4 < away < 4:
                        value += height * math.exp(-away * away / 2)
            text.append("%.3f\n" % value)
        return "".join(text)

    # Writing

    def head(self):
        person = self.person
        return HEADER + '<HealthData locale="en_DE">\n <ExportDate value="%s"/>\n <Me ' % self.date(self.made) + (
            'HKCharacteristicTypeIdentifierDateOfBirth="%04d-%02d-%02d" HKCharacteristicTypeIdentifierBiologicalSex='
            '"HKBiologicalSex%s" HKCharacteristicTypeIdentifierBloodType="HKBloodType%s" '
            'HKCharacteristicTypeIdentifierFitzpatrickSkinType="HKFitzpatrickSkinTypeII" '
            'HKCharacteristicTypeIdentifierCardioFitnessMedicationsUse="None"/>\n'
            % (*person.birth, person.sex, person.blood_type))

    def summary(self, notes):
        """The rings of a day: what was noted by the time the export was made."""
        def noted(name):
            return [s for s in notes.samples if s.type.endswith(name) and s.end + s.created <= self.made]

        energy = sum(float(sample.value) for sample in noted("ActiveEnergyBurned"))
        stood = sum(sample.value.endswith("Stood") for sample in noted("AppleStandHour"))
        exercise = sum(int(sample.value) for sample in noted("AppleExerciseTime"))
        if not energy:
            return ""
        return (
            ' <ActivitySummary dateComponents="%s" activeEnergyBurned="%s" activeEnergyBurnedGoal="480"'
            ' activeEnergyBurnedUnit="kcal" appleMoveTime="0" appleMoveTimeGoal="0" appleExerciseTime="%d"'
            ' appleExerciseTimeGoal="30" appleStandHours="%d" appleStandHoursGoal="12"/>\n'
            % (clock.date(notes.day.day), devices.number(energy), exercise, stood))

    def write(self, path):
        """Writes the zip file. The same arguments give the same bytes."""
        types, side, count = {}, [], 0
        parts = [tempfile.TemporaryFile() for _ in range(3)]
        correlations, workouts, summaries = parts

        def part(name):
            if name not in types:
                types[name] = tempfile.TemporaryFile()
            return types[name]

        for notes in self.collect():
            for sample in notes.samples:
                if sample.end + sample.created <= self.made:
                    part(sample.type).write(self.record(sample).encode())
                    count += 1
                    if self.truth:
                        self.truth.hear(sample)
            for reading in notes.pressures:
                if reading.time + 2 <= self.made:
                    for kind, value in (("Systolic", reading.systolic), ("Diastolic", reading.diastolic)):
                        part("pressure " + kind).write(self.pressure(reading, kind, value, " ").encode())
                        count += 1
                    correlations.write(self.correlation(reading).encode())
                    if self.truth:
                        self.truth.hear_pressure(reading)
            for session in notes.sessions:
                if session.end + 3 <= self.made:
                    workouts.write(self.workout(session).encode())
                    if session.route and self.has_side_files:
                        side.append((self.route_path(session), session, self.gpx))
                    if self.truth:
                        self.truth.hear_workout(session)
            for recording in notes.recordings:
                if self.has_side_files and recording.time + 30 <= self.made:
                    name = "electrocardiograms/ecg_%s.csv" % self.date(recording.time)[:10]
                    side.append((name, recording, self.electrocardiogram))
            summaries.write(self.summary(notes).encode())
        if self.truth:
            self.truth.hear_export(self, count)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            with archive.open(self.member("export.xml"), "w", force_zip64=True) as out:
                out.write(self.head().encode())
                for part in [*types.values(), *parts]:
                    part.seek(0)
                    shutil.copyfileobj(part, out, 1 << 20)
                    part.close()
                out.write(b"</HealthData>\n")
            for name, what, text in side:
                archive.writestr(self.member(name), text(what))

    def member(self, name):
        # A fixed date, so that the same arguments give the same bytes.
        member = zipfile.ZipInfo(FOLDER + name, (2025, 11, 6, 10, 0, 0))
        member.compress_type = zipfile.ZIP_DEFLATED
        return member
