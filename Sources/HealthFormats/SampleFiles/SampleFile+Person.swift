import Foundation
import HealthModel

/// Identification of the person whose samples a file holds, without decoding all of them.
extension SampleFile {
  /// The prefix of the identifiers of characteristics.
  private static let mark = Array("HKCharacteristicType".utf8)
  /// The escape that, followed by "2" to "7", can hide a printable ASCII character from a search. hpeer's own files
  /// have no such escapes.
  private static let escape = Array("\\u00".utf8)
  /// The maximum length in bytes of a line with a characteristic. Such lines are short in files that hpeer wrote.
  private static let longestLine = 64 << 10
  /// The maximum number of lines with characteristics. A record has fewer than ten.
  private static let mostLines = 10_000

  /// Returns the person whose characteristics the file holds. Blocks: call it on a thread of your own.
  ///
  /// Files that hpeer wrote have one sample a line, and only the lines with characteristics are decoded. Other files,
  /// and JSON in which an identifier may be escaped, are read completely. In a damaged file, only the part before the
  /// damage counts, because no more is imported.
  ///
  /// - Parameter progress: called from time to time with the number of bytes read; may throw to stop.
  /// - Throws: ``ImportError``, or what the closure throws.
  public func person(progress: @escaping (_ bytes: Int64) throws -> Void = { _ in }) throws -> Person {
    try personReadings(progress: progress).person
  }

  /// Returns the characteristics of ``person(progress:)`` with the time of each.
  public func personReadings(progress: @escaping (_ bytes: Int64) throws -> Void) throws -> PersonReadings {
    try personReadings(chunkSize: 1 << 20, progress: progress)
  }

  func personReadings(
    chunkSize: Int, progress: @escaping (Int64) throws -> Void = { _ in }
  ) throws -> PersonReadings {
    if let lines = try markedLines(chunkSize: chunkSize, progress) {
      if lines.isEmpty { return PersonReadings() }
      let excerpt = SampleFile(format: format, bytes: try excerpt(of: lines))
      var readings = PersonReadings()
      if let report = try? excerpt.read(deliver: { try readings.add($0) }), report.isComplete {
        return readings
      }
    }
    var readings = PersonReadings()
    do {
      _ = try read(progress: progress) { try readings.add($0) }
    } catch is SampleFileError {
      // The import that follows reports where the damage is.
    }
    return readings
  }

  /// Returns a file of the same format that holds only these lines.
  private func excerpt(of lines: [[UInt8]]) throws -> [UInt8] {
    switch format {
    case .changeFeed, .fhirResources: return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    case .csv: return try firstLine() + lines.flatMap { $0 + [0x0A] }
    case .json, .fhirBundle:
      let samples = lines.map { line -> ArraySlice<UInt8> in
        let last = line.lastIndex { $0 > 0x20 && $0 != UInt8(ascii: ",") }
        return line[..<(last.map { $0 + 1 } ?? 0)]
      }
      let head =
        format == .json
        ? #"{"format":"hpeer","version":\#(SampleJSONReader.version),"samples":["# : #"{"entry":["#
      return Array(head.utf8) + samples.joined(separator: [UInt8(ascii: ",")]) + Array("]}".utf8)
    }
  }

  /// Returns the header row of a table, with its line ending.
  private func firstLine() throws(ImportError) -> [UInt8] {
    let source = try self.source()
    defer { source.close() }
    let head = try source.prefix(Self.longestLine)
    return Array(head[..<((head.firstIndex(of: 0x0A) ?? head.count - 1) + 1)])
  }

  /// Returns the lines that mention characteristics, or `nil` if such a line is too long, if there are too many, or
  /// if an escape may hide one.
  private func markedLines(chunkSize: Int, _ progress: (Int64) throws -> Void) throws -> [[UInt8]]? {
    let source = try self.source()
    defer { source.close() }
    var lines: [[UInt8]] = []
    /// The bytes that have not been searched, from the beginning of a line.
    var buffer: [UInt8] = []
    /// Whether the beginning of the first line in `buffer` has been dropped, because the line is too long.
    var isCut = false
    while true {
      let chunk = try [UInt8](unsafeUninitializedCapacity: chunkSize) { bytes, count in
        // A capacity above zero has an address.
        if let base = bytes.baseAddress { count = try source.read(into: base, count: chunkSize) }
      }
      try progress(source.position)
      buffer += chunk
      if format != .csv, buffer.hasEscapedLetter(Self.escape) { return nil }
      var start = 0
      while let hit = buffer.firstIndex(of: Self.mark, from: start) {
        let line = (buffer[start..<hit].lastIndex(of: 0x0A) ?? start - 1) + 1
        if line == 0, isCut { return nil }
        let end = buffer[hit...].firstIndex(of: 0x0A)
        if (end ?? buffer.count) - line > Self.longestLine { return nil }
        start = line
        // The rest of the line is in the next chunk.
        guard let end = end ?? (chunk.isEmpty ? buffer.count : nil) else { break }
        if lines.count == Self.mostLines { return nil }
        lines.append(Array(buffer[line..<end]))
        start = min(end + 1, buffer.count)
      }
      if chunk.isEmpty { return lines }
      if let end = buffer[start...].lastIndex(of: 0x0A) { start = end + 1 }
      if start > 0 { isCut = false }
      buffer.removeFirst(start)
      if buffer.count > 2 * Self.longestLine {
        buffer.removeFirst(buffer.count - Self.mark.count)
        isCut = true
      }
    }
  }
}

extension PersonReadings {
  /// Adds all characteristics of a batch, including readings.
  ///
  /// - Throws: `DecodingError` if the payload of a characteristic is malformed.
  public mutating func add(_ batch: SampleBatch) throws {
    for sample in batch.readings { add(sample) }
    try add(batch.changes)
  }

  private mutating func add(_ changes: CodedChanges) throws {
    let isTrait = changes.types.map { Person.Trait(rawValue: $0.rawValue) != nil }
    guard isTrait.contains(true) else { return }
    for row in changes.samples where isTrait[Int(row.type)] { add(try changes.sample(row)) }
  }
}

extension [UInt8] {
  fileprivate func hasEscapedLetter(_ escape: [UInt8]) -> Bool {
    var start = 0
    while let hit = firstIndex(of: escape, from: start) {
      start = hit + escape.count
      if start < count, (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(self[start]) { return true }
    }
    return false
  }

  /// Returns the index of the first occurrence of a text.
  ///
  /// - Parameter text: the bytes to find; must not be empty.
  fileprivate func firstIndex(of text: [UInt8], from start: Int) -> Int? {
    withUnsafeBytes { all in
      guard let base = all.baseAddress else { return nil }
      var index = start
      while index + text.count <= all.count,
        let found = memchr(base + index, Int32(text[0]), all.count - text.count + 1 - index)
      {
        index = UnsafeRawPointer(found) - base
        if memcmp(base + index, text, text.count) == 0 { return index }
        index += 1
      }
      return nil
    }
  }
}
