import Foundation

/// That this machine may pull from a server, as far as whose record it is goes: until either side's person is another.
public struct PersonAgreement: Hashable, Sendable {
  /// A hash of what this machine claimed; empty where it knows no person.
  public var claim: Data
  /// What the server calls its person; `nil` where it did not say.
  public var mark: String?

  /// - Parameter claim: ``PersonClaim/digest``, or empty.
  public init(claim: Data, mark: String?) {
    self.claim = claim
    self.mark = mark
  }
}
