import Foundation
import HealthModel

/// The changes of a batch that belong to one file.
struct DayFileChanges: Sendable {
  let place: DayFiles.Place
  var tombstones: [CodedTombstone] = []
  var samples: [CodedSample] = []
  /// Whether the last sample of the batch is among them: the next batch may go on with the file.
  var endsBatch = false

  /// All of them.
  func refused(_ reason: String, _ types: [SampleType]) -> [RefusedSample] {
    let references =
      tombstones.map { SampleReference(type: types[Int($0.type)], start: $0.start, uuid: $0.uuid) }
      + samples.map { SampleReference(type: types[Int($0.type)], start: $0.start, uuid: $0.uuid) }
    return references.map { RefusedSample($0, reason: reason) }
  }
}
