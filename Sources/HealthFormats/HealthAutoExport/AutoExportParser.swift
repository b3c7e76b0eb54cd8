import HealthModel

/// A receiver of the parts of a file, in their order in the file.
protocol AutoExportVisitor {
  mutating func beginMetric() throws
  mutating func metric(name: String) throws
  mutating func metric(units: String) throws
  mutating func point(_ point: JSONValue, weight: Int, line: () -> Int) throws
  /// Receives an element of `workouts`, `stateOfMind`, `ecg` or any other list.
  mutating func element(of list: String, _ element: JSONValue, weight: Int, line: () -> Int) throws
  /// Receives the name of a member that is not a list.
  mutating func unknown(_ name: String, line: () -> Int) throws
}

/// Parses the JSON of a file and passes its parts to a visitor. A metric's name may follow its points.
enum AutoExportParser {
  static func walk(
    _ scanner: consuming JSONScanner, into visitor: inout some AutoExportVisitor, _ progress: (Int64) throws -> Void
  ) throws {
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      if key == "data", try scanner.peek() == UInt8(ascii: "{") {
        try scanner.beginObject()
        while let key = try scanner.nextKey() { try list(key, &scanner, &visitor, progress) }
      } else {
        try list(key, &scanner, &visitor, progress)
      }
    }
    try scanner.end()
  }

  private static func list(
    _ name: String, _ scanner: inout JSONScanner, _ visitor: inout some AutoExportVisitor,
    _ progress: (Int64) throws -> Void
  ) throws {
    guard try scanner.peek() == UInt8(ascii: "[") else {
      let place = scanner.position.line
      try visitor.unknown(name) { place }
      return try scanner.skipValue()
    }
    try scanner.beginArray()
    while try scanner.nextElement() {
      if name == "metrics" {
        try metric(&scanner, &visitor, progress)
      } else {
        let (bytes, offset) = try scanner.value(limit: HealthAutoExport.maximumValue)
        let element = try scanner.parse(bytes, at: offset)
        try visitor.element(of: name, element, weight: bytes.count) { scanner.position(at: offset).line }
      }
      try progress(scanner.bytesRead)
    }
  }

  private static func metric(
    _ scanner: inout JSONScanner, _ visitor: inout some AutoExportVisitor, _ progress: (Int64) throws -> Void
  ) throws {
    try visitor.beginMetric()
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      let first = try scanner.peek()
      switch key {
      case "name" where first == UInt8(ascii: "\""):
        if case .string(let name) = try scanner.tree(limit: 4096).value { try visitor.metric(name: name) }
      case "units" where first == UInt8(ascii: "\""):
        if case .string(let units) = try scanner.tree(limit: 4096).value { try visitor.metric(units: units) }
      case "data" where first == UInt8(ascii: "["):
        try scanner.beginArray()
        while try scanner.nextElement() {
          let (bytes, offset) = try scanner.value(limit: HealthAutoExport.maximumValue)
          let point = try scanner.parse(bytes, at: offset)
          try visitor.point(point, weight: bytes.count) { scanner.position(at: offset).line }
          try progress(scanner.bytesRead)
        }
      default: try scanner.skipValue()
      }
    }
  }
}

/// The first pass over a file, which collects names and units, the newest date and the aggregation period.
struct AutoExportScan: AutoExportVisitor {
  struct Metric {
    var name: String?
    var units: String?
  }

  private(set) var metrics: [Metric] = []
  private(set) var newest: Timestamp?
  private(set) var periods = PeriodFinder()

  mutating func beginMetric() {
    metrics.append(Metric())
    periods.beginMetric()
  }

  mutating func metric(name: String) { metrics[metrics.count - 1].name = name }
  mutating func metric(units: String) { metrics[metrics.count - 1].units = units }

  mutating func point(_ point: JSONValue, weight: Int, line: () -> Int) {
    guard case .object(let members) = point else { return }
    let date = see(members["date"])
    for name in ["startDate", "endDate", "sleepEnd", "inBedEnd"] { _ = see(members[name]) }
    // Nights begin and end at any second, whatever the file's period.
    if let date, members["sleepStart"] == nil, members["startDate"] == nil { periods.add(date) }
  }

  mutating func element(of list: String, _ element: JSONValue, weight: Int, line: () -> Int) {
    guard case .object(let members) = element else { return }
    for name in ["date", "start", "end"] { _ = see(members[name]) }
  }

  mutating func unknown(_ name: String, line: () -> Int) {}

  private mutating func see(_ value: JSONValue?) -> AutoExportDate? {
    guard case .string(let text)? = value, let date = AutoExportDate(text) else { return nil }
    newest = max(newest ?? date.instant, date.instant)
    return date
  }
}
