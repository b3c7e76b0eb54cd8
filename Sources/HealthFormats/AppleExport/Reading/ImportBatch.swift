import Foundation
import HealthModel

/// A batch of samples of an export, in the order of the file.
public struct ImportBatch: Sendable {
  /// Samples whose identities are made by ``SampleIdentity/uuid(kind:type:source:start:end:created:ordinal:)``. The
  /// dictionaries may hold values that no sample of this batch uses.
  public var changes: CodedChanges
  /// The person's characteristics and the days' activity summaries, whose values change from one export to the next.
  /// `created` is the export's date. A characteristic starts and ends at 1970-01-01T00:00:00Z, a day's summary spans
  /// its calendar day as if it were UTC.
  public var readings: [Sample]
  /// Groups of samples with equal keys, only in the last batches. Members of correlations, and correlations with
  /// equal keys, are in ``changes`` instead, with their ranks as ordinals.
  public var groups: [TwinGroup]

  /// The alternative identities of routes and clinical records in ``changes``, by their identities.
  public var sideFiles: [UUID: SideFileIdentity]

  /// Creates a batch; without arguments, an empty one. Does not check that ``sideFiles`` names samples of
  /// ``changes``.
  public init(
    changes: CodedChanges = CodedChanges(), readings: [Sample] = [], groups: [TwinGroup] = [],
    sideFiles: [UUID: SideFileIdentity] = [:]
  ) {
    self.changes = changes
    self.readings = readings
    self.groups = groups
    self.sideFiles = sideFiles
  }

  /// The number of samples, not counting the readings.
  public var count: Int { groups.reduce(changes.count) { $0 + $1.samples.count } }

  /// The number of samples by type, including the readings.
  public var countsByType: [SampleType: Int] {
    var result = changes.countsByType
    for group in groups { result[group.samples[0].type, default: 0] += group.samples.count }
    for sample in readings { result[sample.type, default: 0] += 1 }
    return result
  }

  /// Returns all changes except the readings. The samples of a group get their ranks as ordinals.
  public func changesByRank() throws -> [CodedChanges] {
    if groups.isEmpty { return changes.isEmpty ? [] : [changes] }
    var coder = ChangeCoder()
    for group in groups {
      for sample in group.byRank() { try coder.add(sample) }
    }
    return changes.isEmpty ? [coder.changes] : [changes, coder.changes]
  }
}

/// A payload that is JSON already, or that is encoded later. Printing many numbers is left to the thread that takes
/// the batch, which mostly has time.
enum OpenPayload: Sendable {
  case text(String)
  case columns(any ColumnPayload)

  /// Returns the payload as JSON. Throws `EncodingError` for a payload that cannot be written as JSON.
  func json() throws -> String {
    switch self {
    case .text(let text): text
    case .columns(let payload): try payload.coded().json ?? ""
    }
  }

  /// The approximate size in bytes.
  var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .columns(let payload): payload.size
    }
  }
}
