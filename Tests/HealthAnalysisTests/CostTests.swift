import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests that the cost of a query about a few days doesn't depend on the length of the record.
@Suite("The cost of a question") struct CostTests {
  /// A record from two sources: sleep, steps and energy for each day, and a daily workout without distance and
  /// energy.
  private struct Record {
    let directory: TemporaryDirectory
    let steps: StepCount
    let store: HealthStore
    let days: Int

    let zone: ZoneRules
    /// The first day, 2020-01-01, in days since 1970-01-01.
    static let firstDay = 18_262

    init(days: Int) async throws {
      self.days = days
      zone = try ZoneRules(named: "UTC")
      directory = try TemporaryDirectory(inMemory: true)
      steps = StepCount(in: directory.path)
      store = try HealthStore(directory: directory.path)
      for day in 0..<days { try await store.apply(ChangeBatch(additions: Self.samples(of: Self.firstDay + day))) }
      try await Rollups(of: store).refresh()
    }

    private static func samples(of day: Int) -> [Sample] {
      let midnight = Int64(day) * 86_400
      func sample(_ type: String, _ minute: Int, _ length: Int, _ source: String, _ payload: Payload) -> Sample {
        Sample(
          uuid: UUID(), type: SampleType(type), start: Timestamp(seconds: midnight + Int64(minute * 60)),
          end: Timestamp(seconds: midnight + Int64((minute + length) * 60)), source: Source(name: source),
          payload: payload)
      }
      var samples: [Sample] = []
      for source in ["Watch", "Phone"] {
        for stage in 0..<24 {
          samples.append(
            sample(
              SleepQuery.type.rawValue, stage * 18, 18, source, .category(CategoryValue(value: Int64(3 + stage % 3)))))
        }
        for quarter in 32..<80 {
          for (type, unit) in [("StepCount", "count"), ("ActiveEnergyBurned", "kcal"), ("DistanceWalkingRunning", "m")]
          {
            samples.append(
              sample("HKQuantityTypeIdentifier" + type, quarter * 15, 15, source, .quantity(Quantity(9, unit))))
          }
        }
      }
      samples.append(
        sample(
          SampleType.workout.rawValue, 1_000, 30, "Watch",
          .workout(Workout(activityType: WorkoutActivityType(exported: "HKWorkoutActivityTypeRunning")))))
      return samples
    }

    /// The day in the middle of the record.
    var day: Int { Self.firstDay + days / 2 }

    func times(_ range: ClosedRange<Int>) -> Range<Timestamp> {
      Timestamp(
        seconds: zone.start(ofDay: range.lowerBound))..<Timestamp(
          seconds: zone.start(ofDay: range.upperBound + 1))
    }
  }

  private enum Question: String, CaseIterable {
    case nights, workouts, aWorkout, summary, oneSource

    func ask(_ record: Record) async throws {
      let zone = record.zone
      switch self {
      case .nights:
        var query = SleepQuery(in: zone)
        (query.firstDay, query.lastDay) = (record.day - 6, record.day)
        #expect(try await query.run(on: record.store).count == 7)
      case .workouts:
        var query = WorkoutQuery()
        query.range = record.times(record.day - 6...record.day)
        let workouts = try await query.run(on: record.store)
        #expect(workouts.count == 7)
        #expect(workouts.allSatisfy { $0.energy != nil && $0.distance != nil })
      case .aWorkout:
        var query = WorkoutQuery()
        (query.range, query.readsSamples) = (record.times(record.day...record.day), false)
        let workout = try #require(try await query.run(on: record.store).first)
        let filled = try await WorkoutQuery.filled(workout, in: record.store)
        #expect(try await WorkoutQuery.details(of: filled, zones: nil, in: record.store).measures.count == 1)
      case .summary:
        let query = DaySummaryQuery(day: record.day, in: zone)
        let summary = try await query.run(on: record.store)
        #expect(summary.night != nil && summary.types.count == 3)
      case .oneSource:
        var query = StatisticsQuery(SampleType("HKQuantityTypeIdentifierStepCount"), by: .hour, in: zone)
        let range = record.times(record.day...record.day)
        (query.start, query.end, query.sources) = (range.lowerBound, range.upperBound, ["Phone"])
        #expect(try await query.run(on: record.store).values.count == 12)
      }
    }
  }

  @Test("Nights, workouts, a day's summary and one source's numbers cost no more of a record six times as long")
  func costsOfALongerRecord() async throws {
    let (short, long) = (try await Record(days: 80), try await Record(days: 480))
    for question in Question.allCases {
      // Once to open what is opened.
      for record in [short, long] { try await question.ask(record) }
      let few = try await short.steps.count { try await question.ask(short) }
      let many = try await long.steps.count { try await question.ask(long) }
      // What is kept has some rows a day. A day of this record has 336 samples, and to read one takes several steps.
      #expect(many - few < (long.days - short.days) * 500, "\(question): \(few) steps, \(many) of the longer record")
    }
  }
}
