import Foundation
import Testing

/// Tests that hpeer's totals of a synthetic record equal those that `scripts/sample-export` computes independently.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SampleRecordTests {
  private let scratch: Scratch
  private let home: Host

  init() throws {
    scratch = try Scratch()
    home = scratch.host("home")
  }

  /// Returns the days of a type as `hpeer stats` prints them.
  private func days(_ type: String) async throws -> [String: [String: Any]] {
    let outcome = try await home.run("stats", type, "--by", "day", "--zone", "Europe/Berlin", "--json")
    #expect(outcome.status == 0, "\(type): \(outcome.errors)")
    let values = try #require(outcome.json()["values"] as? [[String: Any]])
    return Dictionary(uniqueKeysWithValues: values.compactMap { day in (day["date"] as? String).map { ($0, day) } })
  }

  private func expect(_ found: Double?, _ right: Double?, _ what: String) {
    guard let found, let right else {
      #expect(found == nil && right == nil, "\(what): \(String(describing: found)), not \(String(describing: right))")
      return
    }
    #expect(abs(found - right) <= 1e-6 * max(1, abs(right)), "\(what): \(found), not \(right)")
  }

  @Test(
    "Days, nights and workouts are right, for people with a watch and without one, at the density of real records and below",
    arguments: [
      ["--records", "6000"], ["--days", "12"], ["--records", "4000", "--seed", "9"], ["--days", "40", "--seed", "3"],
    ])
  func totals(_ arguments: [String]) async throws {
    let truth = try await truth(of: arguments)
    for type in Truth.sums where truth.days.values.contains(where: { $0.sums[type] != nil }) {
      let found = try await days(type)
      for date in Set(found.keys).union(truth.days.keys) {
        expect(found[date]?["sum"] as? Double, truth.days[date]?.sums[type], "\(type) of \(date)")
      }
    }
    if truth.days.values.contains(where: { $0.heartRate != nil }) {
      let heart = try await days("heartRate")
      for (date, day) in truth.days {
        expect(heart[date]?["min"] as? Double, day.heartRate?.min, "slowest heart rate of \(date)")
        expect(heart[date]?["max"] as? Double, day.heartRate?.max, "fastest heart rate of \(date)")
        expect(
          (heart[date]?["count"] as? Int).map(Double.init), day.heartRate.map { Double($0.count) },
          "number of heart rates of \(date)")
      }
    }
    try await expectNights(truth)
    try await expectWorkouts(truth)
  }

  private func expectNights(_ truth: Truth) async throws {
    let outcome = try await home.run("sleep", "--json", "--zone", "Europe/Berlin")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let nights = try #require(outcome.json()["nights"] as? [[String: Any]])
    var found: [String: [String: Double]] = [:]
    for night in nights {
      let date = try #require(night["date"] as? String)
      let session = try #require(night["night"] as? [String: Any])
      for stage in ["asleep", "core", "deep", "rem"] { found[date, default: [:]][stage] = session[stage] as? Double }
      let naps = (night["naps"] as? [[String: Any]] ?? []).compactMap { $0["asleep"] as? Double }
      if !naps.isEmpty { found[date, default: [:]]["nap"] = naps.reduce(0, +) }
    }
    let names = ["asleep": "asleep", "AsleepCore": "core", "AsleepDeep": "deep", "AsleepREM": "rem", "nap": "nap"]
    for (date, night) in truth.nights where night["AsleepCore"] != nil {
      for (name, stage) in names {
        expect(found[date]?[stage], night[name].map { Double($0) * 60 }, "\(stage) in the night to \(date)")
      }
    }
    let slept = found.filter { ($0.value["core"] ?? 0) > 0 }.keys
    #expect(Set(slept) == Set(truth.nights.filter { $0.value["AsleepCore"] != nil }.keys))
  }

  private func expectWorkouts(_ truth: Truth) async throws {
    let outcome = try await home.run("workouts", "--json", "--zone", "Europe/Berlin")
    let found = try #require(outcome.json()["workouts"] as? [[String: Any]])
    #expect(found.count == truth.workouts.count)
    let distances = found.map { ($0["distance"] as? Double ?? 0).rounded() }.sorted()
    #expect(distances == truth.workouts.map { Double($0.metres) }.sorted())
    let durations = found.compactMap { $0["duration"] as? Double }.sorted()
    #expect(durations == truth.workouts.map { Double($0.minutes * 60) }.sorted())
  }

  /// Imports a person's export and returns its expected totals.
  private func truth(of arguments: [String]) async throws -> Truth {
    let path = scratch.path + "/export.zip"
    let made = try await RunningCommand(
      [Build.root + "/scripts/sample-export", "--truth"] + arguments + [path]
    ).outcome()
    try #require(made.status == 0, "\(made.errors)")
    let imported = try await home.run("import", path)
    try #require(imported.status == 0, "\(imported.errors)")
    return try JSONDecoder().decode(
      Truth.self, from: try Data(contentsOf: URL(filePath: scratch.path + "/export.json")))
  }
}

/// The expected totals of a synthetic record, as written by `scripts/sample-export --truth`.
private struct Truth: Decodable {
  /// The types that have a daily sum.
  static let sums = [
    "stepCount", "distanceWalkingRunning", "activeEnergyBurned", "basalEnergyBurned", "flightsClimbed",
    "appleExerciseTime", "distanceCycling", "distanceSwimming", "timeInDaylight", "dietaryWater", "dietaryCaffeine",
  ]

  struct Heart: Decodable {
    var min, max: Double
    var count: Int
  }

  struct Day: Decodable {
    var sums: [String: Double] = [:]
    var heartRate: Heart?

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(_ name: String) { stringValue = name }
      init?(stringValue: String) { self.init(stringValue) }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      for name in Truth.sums { sums[name] = try values.decodeIfPresent(Double.self, forKey: Key(name)) }
      heartRate = try values.decodeIfPresent(Heart.self, forKey: Key("heartRate"))
    }
  }

  struct Workout: Decodable {
    var start: Int
    var activity: String
    var minutes, metres: Int
  }

  var days: [String: Day]
  /// The minutes of each sleep stage, by the day on which the night ends.
  var nights: [String: [String: Int]]
  var workouts: [Workout]
}
