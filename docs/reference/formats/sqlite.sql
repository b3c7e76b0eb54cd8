-- What hpeer export --format sqlite writes. Three tables are always there, and one for each type of record: rHeartRate stands
-- for all of these. Further columns are texts that come with the first row that has them: metadata_KEY for each key of
-- metadata, attributes that Apple's document type does not know, and metadata for what found no column of its own.

CREATE TABLE "activity_summary" (
  "dateComponents" TEXT,           -- the day, as 2024-06-15
  "activeEnergyBurned" TEXT,
  "activeEnergyBurnedGoal" TEXT,
  "activeEnergyBurnedUnit" TEXT,
  "appleMoveTime" TEXT,            -- minutes
  "appleMoveTimeGoal" TEXT,
  "appleExerciseTime" TEXT,        -- minutes
  "appleExerciseTimeGoal" TEXT,
  "appleStandHours" TEXT,
  "appleStandHoursGoal" TEXT
);

CREATE TABLE "workouts" (
  "id" TEXT PRIMARY KEY,           -- SHA-1 of the row, as sqlite-utils makes it
  "workoutActivityType" TEXT,      -- HKWorkoutActivityTypeRunning
  "duration" TEXT,
  "durationUnit" TEXT,             -- min
  "totalDistance" TEXT,            -- of the statistics where the workout has none
  "totalDistanceUnit" TEXT,
  "totalEnergyBurned" TEXT,        -- the same
  "totalEnergyBurnedUnit" TEXT,
  "sourceName" TEXT,
  "sourceVersion" TEXT,
  "device" TEXT,
  "creationDate" TEXT,
  "startDate" TEXT,                -- 2024-06-15 10:30:00 +0200
  "endDate" TEXT,
  "workout_events" TEXT            -- a JSON array of objects
);

CREATE TABLE "workout_points" (
  "date" TEXT,                     -- 2024-06-15T08:30:00Z; of a route that came without a file, as startDate
  "latitude" REAL,                 -- degrees
  "longitude" REAL,
  "altitude" REAL,                 -- metres
  "horizontalAccuracy" REAL,
  "verticalAccuracy" REAL,
  "course" REAL,                   -- degrees from north; negative where it was not known
  "speed" REAL,                    -- metres per second
  "workout_id" TEXT REFERENCES "workouts"("id")
);

CREATE TABLE "rHeartRate" (
  "startDate" TEXT,                -- 2024-06-15 10:30:00 +0200
  "endDate" TEXT,
  "value" TEXT,                    -- a number, or the name of a category's value
  "unit" TEXT,
  "sourceName" TEXT,
  "sourceVersion" TEXT,
  "device" TEXT,                   -- <<HKDevice: 0x0>, name:Apple Watch, …>
  "creationDate" TEXT
);
