import HealthAnalysis
import HealthFormats
import HealthModel

/// The numbers of types as one table for spreadsheets (RFC 4180), a row for each bucket. Nothing is rounded.
package struct StatisticsTable {
  private static let columns = [
    "type", "unit", "bucket", "zone", "start", "end", "date", "partial", "sum", "mean", "min", "max", "last",
    "meanOfSamples", "samples", "twins", "sources",
  ]

  /// The first line, with its end.
  package static let header = Array((columns.joined(separator: ",") + "\r\n").utf8)

  /// Appends rows of a type, each with the end of its line.
  ///
  /// - Parameter text: what becomes of a text that others have written, such as the name of a source.
  package static func append(
    _ statistics: Statistics, _ entries: some Sequence<BucketEntry>, _ zone: ZoneRules,
    text: (String) -> String = { $0 }, to bytes: inout [UInt8]
  ) {
    let (type, unit) = (text(statistics.type.shortName), statistics.unit.map(text))
    for entry in entries {
      var fields: [String: String] = [
        "type": type, "bucket": statistics.size.rawValue, "zone": statistics.zone,
        "start": zone.text(entry.bucket.start), "end": zone.text(entry.bucket.end),
        "date": zone.date(entry.bucket.start), "partial": "\(entry.isPartial)",
      ]
      fields["unit"] = unit
      switch entry.number {
      case .sum(let sum):
        fields["sum"] = "\(sum.sum)"
        fields["twins"] = "\(sum.twins)"
        fields["sources"] = sum.sources.map { text($0.name) }.joined(separator: "; ")
      case .discrete(let values):
        fields["mean"] = values.mean.map { "\($0)" }
        fields["min"] = "\(values.minimum)"
        fields["max"] = "\(values.maximum)"
        fields["last"] = "\(values.last)"
        fields["meanOfSamples"] = "\(values.meanOfSamples)"
        fields["samples"] = "\(values.count)"
      case nil: break
      }
      for (index, column) in columns.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        if let field = fields[column] { SampleCSVWriter.append(field, to: &bytes) }
      }
      bytes.append(contentsOf: [0x0D, 0x0A])
    }
  }
}

/// Which numbers ``ExportFormat/statisticsCSV`` and ``ExportFormat/statisticsJSON`` hold, and how they are laid out.
public struct StatisticsForm: Sendable {
  public enum Shape: String, Sendable, CaseIterable {
    /// Bucket by bucket of type after type, with all that is known of each.
    case long
    /// Bucket by bucket, with the sum, or mean and extremes, of all types.
    case wide
  }

  public var size: BucketSize
  public var zone: ZoneRules
  public var weekStartsOnSunday: Bool
  public var shape: Shape
  /// Whether buckets that no sample touched are there, too, with nothing in the place of numbers.
  public var fillsGaps: Bool
  /// A bucket that it lies in is partial.
  let now = Timestamp.now

  static var daysInUTC: StatisticsForm { StatisticsForm(in: ZoneRules(offset: 0, name: "UTC")) }

  /// - Parameter zone: whose days these are.
  public init(
    by size: BucketSize = .day, in zone: ZoneRules, weekStartsOnSunday: Bool = false, shape: Shape = .long,
    fillsGaps: Bool = false
  ) {
    (self.size, self.zone, self.weekStartsOnSunday) = (size, zone, weekStartsOnSunday)
    (self.shape, self.fillsGaps) = (shape, fillsGaps)
  }
}
