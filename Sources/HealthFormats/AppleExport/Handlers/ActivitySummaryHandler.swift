import HealthModel

/// The handler of `ActivitySummary` elements, whose values change from export to export.
enum ActivitySummaryHandler {
  /// Reads the attributes. Returns `nil` for an element without a readable date, which is then read like any other
  /// element.
  static func begin(_ context: inout ReadingContext) throws -> ElementStack.Role? {
    var attributes: [String: String] = [:]
    for index in 0..<context.scanner.attributeCount {
      let (name, value) = context.decodedAttribute(index)
      if attributes[name] == nil { attributes[name] = value } else { context.remark("attribute given twice") }
    }
    guard let day = context.scanner.text(of: "dateComponents") else {
      context.remark("ActivitySummary without dateComponents")
      return nil
    }
    guard let start = Self.day(day) else {
      context.remark("ActivitySummary with unreadable dateComponents")
      return nil
    }
    attributes["dateComponents"] = nil
    let sample = Sample(
      uuid: .undecided, type: .activitySummary, start: start, end: Timestamp(seconds: start.seconds + 86_400),
      created: context.report.exportDate ?? context.surveyedDate, source: .health,
      payload: .activitySummary(ActivitySummary(date: day, attributes: attributes)))
    let draft = Draft(
      kind: .other(name: "ActivitySummary", identifier: nil), line: context.scanner.tokenLine(),
      offset: context.scanner.tokenOffset, hash: 0, sample: sample)
    if context.scanner.isSelfClosing {
      try add(draft, &context)
      return .leaf
    }
    context.open.outer = draft
    return .summary
  }

  static func finish(_ context: inout ReadingContext) throws {
    guard var draft = context.open.outer.take() else { return }
    draft.complete(&context)
    try add(draft, &context)
  }

  private static func add(_ summary: Draft, _ context: inout ReadingContext) throws {
    guard try context.takes(summary) else { return }
    context.report.elements["ActivitySummary", default: 0] += 1
    context.delivery.add(reading: summary.sample)
  }

  /// Returns the beginning of a day in UTC, or `nil` for a text that is not a day.
  static func day(_ text: String) -> Timestamp? {
    Timestamp(iso8601: text).flatMap { $0.seconds % 86_400 == 0 ? $0 : nil }
  }
}
