/// The lengths of cells.
///
/// All current time zones are a whole number of quarter-hours from UTC, so their days and hours consist of
/// quarter-hours. Where they consist of hours, fewer cells are added up. Any other bucket (a query that begins at
/// 10:07, a zone before standard time) is computed from samples.
enum RollupGrain: Int, Hashable, Sendable, CaseIterable {
  case hour = 24
  case quarter = 96

  /// The length of a block, a day in UTC, in microseconds.
  static let day: Int64 = 86_400_000_000

  /// The number of cells in a block.
  var count: Int { rawValue }
  /// The length of a cell in microseconds.
  var length: Int64 { Self.day / Int64(rawValue) }

  /// Creates the largest grain whose cells make up the periods between the edges, or returns `nil` if there is none.
  init?(edges: some Sequence<Int64>) {
    var grain = RollupGrain.hour
    for edge in edges where edge % RollupGrain.hour.length != 0 {
      guard edge % RollupGrain.quarter.length == 0 else { return nil }
      grain = .quarter
    }
    self = grain
  }

  /// The days of the years 1 to 9999, and a day before and after. Earlier and later samples are assigned to the first
  /// and the last day, so that their sources are known, but they are in no bucket.
  static let days: ClosedRange<Int64> = -719_163...2_932_897

  /// Returns the day in UTC since 1970-01-01 of an instant, clamped to ``days``.
  static func day(of microseconds: Int64) -> Int64 {
    let quotient = microseconds / day
    let day = microseconds % day < 0 ? quotient - 1 : quotient
    return min(max(day, days.lowerBound), days.upperBound)
  }

  /// Returns the range that ``day(of:)`` maps to these days, in microseconds since 1970.
  static func microseconds(of days: ClosedRange<Int64>) -> Range<Int64> {
    let start = days.lowerBound <= Self.days.lowerBound ? .min : days.lowerBound * day
    let end = days.upperBound >= Self.days.upperBound ? .max : (days.upperBound + 1) * day
    return start..<end
  }
}

/// A cell of a block.
protocol RollupCell {
  /// Whether the cell has no samples.
  var isEmpty: Bool { get }
  /// Appends the cell that follows in time.
  mutating func append(_ next: Self)
  /// Removes the samples that begin before the cell. Used for a cell that is not the first of a longer period.
  mutating func forgetBefore()
  /// Writes the cell.
  ///
  /// - Parameter start: the start of the cell, in microseconds since 1970.
  func write(to writer: inout CellWriter, start: Int64)
  init(from reader: inout CellReader, start: Int64) throws(RollupDamage)
}

/// The encoding of a block of cells: a bit for each cell that exists, followed by these cells.
enum RollupBlock {
  /// Returns the bytes of the cells, or `nil` if all are empty.
  static func bytes<Cell: RollupCell>(of cells: ArraySlice<Cell>, _ grain: RollupGrain, start: Int64) -> [UInt8]? {
    var present = [UInt8](repeating: 0, count: grain.count / 8)
    var writer = CellWriter()
    var isEmpty = true
    for (index, cell) in cells.enumerated() where !cell.isEmpty {
      present[index / 8] |= 1 << UInt8(index % 8)
      cell.write(to: &writer, start: start + Int64(index) * grain.length)
      isEmpty = false
    }
    return isEmpty ? nil : present + writer.bytes
  }

  static func forEach<Cell: RollupCell>(
    _ type: Cell.Type, in bytes: UnsafeRawBufferPointer, _ grain: RollupGrain, start: Int64,
    _ body: (_ start: Int64, Cell) throws -> Void
  ) throws {
    let size = grain.count / 8
    guard bytes.count >= size else { throw RollupDamage() }
    var reader = CellReader(UnsafeRawBufferPointer(rebasing: bytes[size...]))
    for index in 0..<grain.count where bytes[index / 8] & 1 << UInt8(index % 8) != 0 {
      let time = start + Int64(index) * grain.length
      try body(time, try Cell(from: &reader, start: time))
    }
    guard reader.isAtEnd else { throw RollupDamage() }
  }

  /// Returns the hours of a block from its quarter-hours.
  static func hours<Cell: RollupCell>(of quarters: ArraySlice<Cell>) -> [Cell] {
    stride(from: quarters.startIndex, to: quarters.endIndex, by: 4).map { first in
      quarters[first + 1..<first + 4].reduce(into: quarters[first]) { $0.append($1) }
    }
  }
}
