import Foundation
import GRDB
import HealthModel

extension HealthStore.Samples {
  /// Returns the UUIDs of the `references` that the store has or has seen deleted. A UUID of HealthKit's own also
  /// matches a start that a road rounded or truncated to the second. The cost depends on the number of references,
  /// not on the size of the store.
  public func known(_ references: [SampleReference]) async throws(StoreError) -> Set<UUID> {
    try await store.read { db in
      var types: [SampleType: Int64?] = [:]
      var known: Set<UUID> = []
      let tables = [CrowdedSeconds(db, .sample), CrowdedSeconds(db, .tombstone)]
      for reference in references {
        let type: Int64?
        if let found = types[reference.type] {
          type = found
        } else {
          type = try reference.type.id(in: db)
          types[reference.type] = .some(type)
        }
        guard let type else { continue }
        let start = reference.start.microseconds
        for table in tables where try table.find(reference.uuid, start: start, type: type) != nil {
          known.insert(reference.uuid)
          break
        }
      }
      return known
    }
  }
}
