import Foundation
import HealthModel

/// Some samples of an export, in the order of the file.
public struct ImportBatch: Sendable {
  /// Samples with the identities of ``SampleIdentity/uuid(kind:type:source:start:end:created:ordinal:)``. The
  /// dictionaries may hold values that no sample of this batch has.
  public var changes: CodedChanges
  /// The person's characteristics and the days' activity summaries, whose values change from one export to the next.
  /// `created` is the export's date. A characteristic starts and ends at 1970-01-01T00:00:00Z, a day's summary spans
  /// its calendar day as if it were UTC.
  public var readings: [Sample]
  /// Samples that share their keys, in the last batches. Those that are members of correlations, and correlations that
  /// share their keys, are in ``changes`` with their ranks as ordinals.
  public var groups: [TwinGroup]

  /// By the identities of samples in ``changes``, their other ones: of routes and clinical records.
  public var sideFiles: [UUID: SideFileIdentity]

  /// Without arguments, an empty batch. That ``sideFiles`` names samples of ``changes`` is not checked.
  public init(
    changes: CodedChanges = CodedChanges(), readings: [Sample] = [], groups: [TwinGroup] = [],
    sideFiles: [UUID: SideFileIdentity] = [:]
  ) {
    self.changes = changes
    self.readings = readings
    self.groups = groups
    self.sideFiles = sideFiles
  }

  /// All samples but the readings.
  public var count: Int { groups.reduce(changes.count) { $0 + $1.samples.count } }

  /// Samples by type, the readings among them.
  public var countsByType: [SampleType: Int] {
    var result = changes.countsByType
    for group in groups { result[group.samples[0].type, default: 0] += group.samples.count }
    for sample in readings { result[sample.type, default: 0] += 1 }
    return result
  }

  /// All changes but the readings, with ordinals by rank.
  public func changesByRank() throws -> [CodedChanges] {
    if groups.isEmpty { return changes.isEmpty ? [] : [changes] }
    var coder = ChangeCoder()
    for group in groups {
      for sample in group.byRank() { try coder.add(sample) }
    }
    return changes.isEmpty ? [coder.changes] : [changes, coder.changes]
  }
}

/// A payload that is JSON in coded form, or will be: to print the many numbers of some is left to the thread that takes
/// the batch, which is mostly the one that has time.
enum OpenPayload: Sendable {
  case text(String)
  case columns(any ColumnPayload)

  /// Throws `EncodingError` for what cannot be written as JSON.
  func json() throws -> String {
    switch self {
    case .text(let text): text
    case .columns(let payload): try payload.coded().json ?? ""
    }
  }

  /// Bytes, about.
  var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .columns(let payload): payload.size
    }
  }
}
