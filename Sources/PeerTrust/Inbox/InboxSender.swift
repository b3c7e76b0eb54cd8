import Foundation
import HealthModel

/// An app that may send to this machine's inbox and read nothing: a row of the table `inboxSender`.
public struct InboxSender: Hashable, Sendable {
  /// The sender's name, part of the path that it sends to; see ``isName(_:)``.
  public let name: String
  /// The hash of the secret that the sender sends with every body.
  public let secretHash: TokenHash
  /// The types that the sender may send, by HealthKit's identifiers or the app's own; `nil` for all types.
  public let types: Set<SampleType>?
  /// The person of this record at the time when the phone was declared to be that person's.
  public let person: Person
  /// The date at which the secret was created.
  public let created: Date
  /// The date of the last request with the secret, at most a minute late; `nil` if there was none.
  public let lastSeen: Date?
  /// The date at which the owner revoked the sender, or `nil` if it is not revoked.
  public let revoked: Date?

  /// Returns whether a text is a valid sender name: 1 to 40 of `a` to `z`, digits, `-` and `_`, none of which a URL
  /// escapes.
  public static func isName(_ text: some StringProtocol) -> Bool {
    (1...40).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
          UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

/// An error for a sender that exceeds the limit on names of sources, types, units and devices.
public struct InboxNamesExceeded: Error, Hashable, Sendable {
  /// The maximum number of names per sender.
  public let limit: Int
}
