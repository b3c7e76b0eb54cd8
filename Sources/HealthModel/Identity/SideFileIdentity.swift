import Foundation

/// The identity that a record of an export has without the file beside its XML, or with it: it is one thing under two
/// identities, so that what the file says is not missed when a later export has it.
public struct SideFileIdentity: Hashable, Sendable {
  /// The other of the two: never that of the record that was asked about.
  public var uuid: UUID
  /// Whether ``uuid`` is the identity of the record without its file.
  public var isBare: Bool

  /// Made by ``SampleKey/sideFileIdentity(_:ordinal:)``, or read back from a store.
  public init(uuid: UUID, isBare: Bool) {
    self.uuid = uuid
    self.isBare = isBare
  }
}

extension SampleKey {
  private static let route = "WorkoutRoute"
  private static let bareRoute = "WorkoutRoute:empty"
  private static let record = "ClinicalRecord"

  /// The other identity of a record with this key, if it is of a kind that has files.
  public func sideFileIdentity(_ payload: Payload, ordinal: Int) -> SideFileIdentity? {
    let other: String
    let hasFile: Bool
    switch payload {
    case .workoutRoute(let route):
      hasFile = !route.points.isEmpty
      // The further parts of a long route have no other identity.
      guard kind == (hasFile ? Self.route : Self.bareRoute) else { return nil }
      other = hasFile ? Self.bareRoute : Self.route
    case .clinicalRecord(let record):
      hasFile = record.resource != nil
      let (bare, whole) = ("\(Self.record):\(record.identifier)", "\(Self.record):\(record.identifier):resource")
      guard kind == (hasFile ? whole : bare) || !hasFile && record.identifier.isEmpty && kind == Self.record
      else { return nil }
      other = hasFile ? bare : whole
    default: return nil
    }
    var key = self
    key.kind = other
    return SideFileIdentity(uuid: key.uuid(ordinal: ordinal), isBare: hasFile)
  }
}
