import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// A benchmark of queries about a few days in the middle of a record, compared with a record a fifth as long.
struct QuestionsLook {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private enum Question: String, CaseIterable {
    case nights = "nights of a week"
    case workouts = "workouts of a week"
    case summary = "a day's summary"
    case sources = "all sources"

    func ask(_ home: LookedAtHome, on day: Int) async throws {
      let range =
        Timestamp(
          seconds: home.zone.start(ofDay: day - 6))..<Timestamp(seconds: home.zone.start(ofDay: day + 1))
      switch self {
      case .nights:
        var query = SleepQuery(in: home.zone)
        (query.firstDay, query.lastDay) = (day - 6, day)
        _ = try await query.run(on: home.rollups)
      case .workouts:
        var query = WorkoutQuery()
        query.range = range
        _ = try await query.run(on: home.rollups)
      case .summary: _ = try await DaySummaryQuery(day: day, in: home.zone).run(on: home.store)
      case .sources: _ = try await home.rollups.sources(of: nil)
      }
    }
  }

  func measure() async throws -> Row {
    var row = Row(.questions)
    var medians: [Question: [Double]] = [:]
    for count in [bench.sizes.samples, bench.sizes.large] {
      let home = try await LookedAtHome(bench, samples: count)
      defer { bench.workspace.remove(home.path) }
      guard let starts = try await home.store.samples.extent(of: LookedAtHome.heartRate) else {
        throw BenchFailure("The made-up record has no heart rates.")
      }
      let day = home.zone.dayNumber(at: starts.lowerBound.seconds / 2 + starts.upperBound.seconds / 2)
      for question in Question.allCases {
        var times: [Double] = []
        for _ in 0..<bench.sizes.shortRepeats {
          times.append(try await milliseconds { try await question.ask(home, on: day) })
        }
        medians[question, default: []].append(median(times))
      }
    }
    for question in Question.allCases {
      guard let times = medians[question], times.count == 2 else { continue }
      row.add("\(question.rawValue), the larger record", times[1], .milliseconds)
      row.add("\(question.rawValue), the larger / the smaller", times[1] / times[0], .ratio, goal: .atMost(2))
    }
    return row
  }
}
