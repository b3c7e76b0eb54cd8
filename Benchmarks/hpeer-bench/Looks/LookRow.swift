/// The benchmarks of queries.
enum LookRow: String, BenchRow {
  case build, days, day, questions, change

  var title: String {
    switch self {
    case .build: "the first question, for which everything is computed, and the import before it"
    case .days: "days of all years of one type, and a bare SELECT of its rows"
    case .day: "all types of one day"
    case .questions: "nights, workouts, a day's summary and sources, by length of the record"
    case .change: "a change, and the question after it"
    }
  }

  func measure(_ bench: Bench) async throws -> Row {
    switch self {
    case .build: try await FirstLook(bench).measure()
    case .days: try await DaysLook(bench).measure()
    case .day: try await DayLook(bench).measure()
    case .questions: try await QuestionsLook(bench).measure()
    case .change: try await ChangeLook(bench).measure()
    }
  }
}
