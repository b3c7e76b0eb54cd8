import Foundation
import HealthModel

/// A page that is read in parts, because the app cannot send one of its rows.
///
/// Rows of the same second come in a different order in each answer. Where a division falls into a second, a row may
/// therefore be in two parts and another in none, and a row that cannot be sent may be met in two places. Comparing
/// the number of places with the number of rows reveals either case.
struct DividedPage {
  typealias Row = HealthAppTransferPage.Row

  /// The content found at one place in the list.
  private enum Place {
    case row(Row)
    case unreadable
    case unsendable

    var second: Int64? { if case .row(let row) = self { row.second } else { nil } }
    var isUnsendable: Bool { if case .unsendable = self { true } else { false } }
  }

  private let offset: Int
  private let parts: [HealthAppTransferPage]
  private let places: [Place]
  /// The rows, each once.
  private var rows: [Row] = []
  private var known: Set<UUID> = []
  private var looks = 0

  /// - Parameters:
  ///   - parts: the parts, newest first.
  ///   - offset: the offset of the first part.
  init(_ parts: [HealthAppTransferPage], offset: Int) {
    (self.parts, self.offset) = (parts, offset)
    places = parts.flatMap { part -> [Place] in
      part.rows.map(Place.row)
        + Array(repeating: part.unsendable.isEmpty ? .unreadable : .unsendable, count: part.unreadable)
    }
    for place in places {
      if case .row(let row) = place, known.insert(row.sample.uuid).inserted { rows.append(row) }
    }
  }

  /// The offsets of rows of which some may not have been received, or `nil` if there are none.
  var doubtful: Range<Int>? {
    doubt.map { offset + $0.places.lowerBound..<offset + $0.places.upperBound }
  }

  /// Adds the rows that another read of ``doubtful`` returned.
  ///
  /// - Returns: whether any row is new.
  mutating func add(_ parts: [HealthAppTransferPage]) -> Bool {
    guard let seconds = doubt?.seconds else { return false }
    looks += 1
    // If the list has moved, rows outside this page arrive, too; they are left out.
    let new = parts.flatMap(\.rows).filter { seconds.contains($0.second) && !known.contains($0.sample.uuid) }
    for row in new where known.insert(row.sample.uuid).inserted {
      rows.insert(row, at: rows.firstIndex { $0.second < row.second } ?? rows.count)
    }
    return !new.isEmpty
  }

  /// The page as far as it is known.
  var whole: HealthAppTransferPage {
    var page = HealthAppTransferPage(parts)
    page.rows = rows
    // The unsendable row may have been met in two places or in none.
    let (met, empty) = (page.unsendable.count, stretches.reduce(0) { $0 + $1.missing })
    page.unreadable += max(1, min(met, empty)) - met
    return page
  }

  /// The stretch to read next. If several stretches miss rows, each read takes another, because the position of the
  /// unsendable row is unknown.
  private var doubt: Stretch? {
    let incomplete = stretches.filter { $0.missing > 0 }
    guard incomplete.reduce(0, { $0 + $1.missing }) > 1 else { return nil }
    return incomplete[looks % incomplete.count]
  }

  /// A range of places whose rows may have been met at other places of the range.
  private struct Stretch {
    var places: Range<Int>
    var seconds: ClosedRange<Int64>
    /// The number of places without a row of their own.
    var missing: Int
  }

  private var stretches: [Stretch] {
    extents.compactMap { extent in
      let there = places[extent]
      let seconds = there.compactMap(\.second)
      guard let first = seconds.max(), let last = seconds.min() else { return nil }
      // All rows of a second may be at places where only the unsendable row was met.
      let newest = places[..<extent.lowerBound].last { $0.second != nil }?.second.map { max(first, $0 - 1) } ?? first
      let oldest = places[extent.upperBound...].first { $0.second != nil }?.second.map { min(last, $0 + 1) } ?? last
      let found = rows.count { (oldest...newest).contains($0.second) }
      let missing = max(0, seconds.count + there.count(where: \.isUnsendable) - found)
      return Stretch(places: extent, seconds: oldest...newest, missing: missing)
    }
  }

  /// The places of each second, extended by adjacent unsendable places; overlapping ranges are merged.
  private var extents: [Range<Int>] {
    var extents: [Int64: Range<Int>] = [:]
    for (index, place) in places.enumerated() {
      guard let second = place.second else { continue }
      extents[second] = (extents[second]?.lowerBound ?? index)..<index + 1
    }
    var result: [Range<Int>] = []
    for extent in extents.values.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      var (first, end) = (extent.lowerBound, extent.upperBound)
      while first > 0, places[first - 1].isUnsendable { first -= 1 }
      while end < places.count, places[end].isUnsendable { end += 1 }
      if let last = result.last, last.upperBound > first {
        result[result.count - 1] = last.lowerBound..<max(last.upperBound, end)
      } else {
        result.append(first..<end)
      }
    }
    return result
  }
}
