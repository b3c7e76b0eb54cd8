import Foundation
import HealthModel

/// An app that may send to this machine's inbox, and read nothing: a row of the table `inboxSender`.
public struct InboxSender: Hashable, Sendable {
  /// Part of the path that it sends to; see ``isName(_:)``.
  public let name: String
  /// Of the secret that it shows with every body.
  public let secretHash: TokenHash
  /// What it may send, by the identifiers of HealthKit or by an app's own; `nil` for everything.
  public let types: Set<SampleType>?
  /// Whose record this was when somebody said that the phone is that person's.
  public let person: Person
  /// When its secret was made.
  public let created: Date
  /// When it last showed its secret, at most a minute late; `nil` before.
  public let lastSeen: Date?
  /// When the owner took its right away; `nil` if nobody did.
  public let revoked: Date?

  /// Whether a text can be a sender's name: 1 to 40 of `a` to `z`, digits, `-` and `_`, so that it is the same in a URL.
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

/// A sender would bring more names of sources, types, units and devices than one may.
public struct InboxNamesExceeded: Error, Hashable, Sendable {
  /// How many one may bring in all.
  public let limit: Int
}
