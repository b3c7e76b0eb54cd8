import HealthModel

/// A kind of body that an inbox takes. A new one is a file and a line in ``InboxFormats``.
protocol InboxFormat: Sendable {
  /// What it is called in an answer and the audit log.
  static var format: InboxBody.Format { get }
  /// By which road its samples come.
  static var road: SampleRoad { get }
  /// `nil` of what is of another one.
  init?(_ body: InboxCandidate)
  /// Reads it whole.
  ///
  /// - Parameters:
  ///   - period: what its numbers stand for, where the app has said so.
  ///   - now: when it came: a later body's readings replace an earlier one's.
  /// - Throws: ``SampleFileError``, ``InboxBodyError``, or what the closure throws.
  func read(
    period: AggregationPeriod?, now: Timestamp, deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport
}

/// All formats that an inbox takes: fewer than an import does, for a change feed may delete.
enum InboxFormats {
  static let all: [any InboxFormat.Type] = [
    HealthPushWebhook.self, DailySummaries.self, HealthAppTransferBody.self, HealthAutoExportBody.self,
  ]

  /// - Returns: `nil` of what none of them recognises.
  static func recognise(_ content: [UInt8]) -> (any InboxFormat)? {
    let body = InboxCandidate(content)
    for format in all {
      if let found = format.init(body) { return found }
    }
    return nil
  }
}

/// A body, looked at just far enough to tell whose it is.
struct InboxCandidate {
  let content: [UInt8]
  let head: FileHead
  /// Of an object, the members up to `data`; also those that a head has no room for.
  private(set) var members: Set<String> = []
  /// Those of them that are arrays.
  private(set) var arrays: Set<String> = []

  init(_ content: [UInt8]) {
    self.content = content
    head = FileHead(Array(content.prefix(FileHead.size)))
    guard head.object != nil else { return }
    // What cannot be read any further is for a reader to say.
    try? look(JSONScanner(source: MemorySource(content), path: "the body"))
  }

  private mutating func look(_ scanner: consuming JSONScanner) throws {
    try scanner.beginObject()
    while let name = try scanner.nextKey() {
      members.insert(name)
      if try scanner.peek() == UInt8(ascii: "[") { arrays.insert(name) }
      // Whose it is, what it holds says.
      if name == "data" || HealthPushWebhook.isOne(self) { return }
      try scanner.skipValue()
    }
  }
}
