import Foundation
import GRDB
import HealthModel

/// A workout route and the workout that it belongs to.
public struct RouteReference: Sendable {
  /// A part of a route. A long route has several parts with the same workout.
  public var route: SampleReference
  /// The workout, or `nil` if the route names none.
  public var workout: SampleReference?
}

extension HealthStore.Samples {
  /// Returns the shown routes that start in `range`, without their points: oldest first, the parts of a long route in
  /// order. If the workout that a route names was deleted or is hidden, `workout` is its replacement or restored
  /// copy.
  ///
  /// - Parameter sources: the names of sources; `nil` for all.
  public func routes(
    in range: Range<Timestamp>? = nil, from sources: Set<String>? = nil
  ) async throws(StoreError) -> [RouteReference] {
    try await store.read { db in
      let type = SampleType.workoutRoute
      guard let id = try type.id(in: db) else { return [] }
      let bounds = range.map {
        " AND start >= \($0.lowerBound.microseconds) AND start < \($0.upperBound.microseconds)"
      }
      let condition = try FilterCondition.from(sources, db) + Visibility.condition(db)
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT uuid, start, json_extract(payload, '$.workout') FROM sample
          WHERE type = ? AND kind = (SELECT id FROM kind WHERE name = ?)\(bounds ?? "")\(condition)
          ORDER BY start, json_extract(payload, '$.time[0]')
          """, arguments: [id, WorkoutRoute.kind])
      let deletions = DeletedSamples(db)
      var routes: [RouteReference] = []
      while let row = try rows.next() {
        let start = Timestamp(microseconds: row[1])
        var workout = (row[2] as String?).flatMap { try? CanonicalJSON.decode(SampleReference.self, $0) }
        if let link = workout, let found = try deletions.standIn(for: link) {
          workout?.start = Timestamp(microseconds: found.start)
          workout?.uuid = found.uuid
        }
        routes.append(
          RouteReference(route: SampleReference(type: type, start: start, uuid: row[0]), workout: workout))
      }
      return routes
    }
  }
}
