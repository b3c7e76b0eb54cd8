import Foundation
import GRDB
import HealthModel

extension HealthStore.Samples {
  /// Those of `references` that the store has or has seen deleted, by their UUIDs; where these are HealthKit's own, whatever
  /// a road made of the fraction of the second in which they start. Costs what is asked, not what the store holds.
  public func known(_ references: [SampleReference]) async throws(StoreError) -> Set<UUID> {
    try await store.read { db in
      var types: [SampleType: Int64?] = [:]
      var known: Set<UUID> = []
      for reference in references {
        let type: Int64?
        if let found = types[reference.type] {
          type = found
        } else {
          type = try reference.type.id(in: db)
          types[reference.type] = .some(type)
        }
        guard let type else { continue }
        let range = reference.uuid.range(ofStart: reference.start.microseconds)
        for table in [KnownIdentities.Table.sample, .tombstone]
        where try KnownIdentities.has(table, reference.uuid, starting: range, type: type, db) {
          known.insert(reference.uuid)
          break
        }
      }
      return known
    }
  }
}
