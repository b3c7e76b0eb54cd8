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

/// A kind of which Apple's export keeps a part in a file beside its XML, and whose identity says whether it was there.
package protocol SideFilePayload: SamplePayload {
  /// Whether it has what is in the file.
  var hasFile: Bool { get }

  /// The kind of the key that it has with its file, if it has none, and the other way round; `nil` if `kind` is not that
  /// of its own key.
  func otherKeyKind(_ kind: String) -> String?

  /// Where its JSON has what a store tells apart.
  static var sideFilePaths: SideFilePaths { get }

  /// One that has its file, as far as identities go, and the kind of its key.
  ///
  /// - Parameter link: the text at ``SideFilePaths/link``; `nil` where there is none.
  static func withFile(link: String?) -> (content: Self, keyKind: String)
}

/// JSON paths as SQLite's `json_extract` takes them, such as `$.workout`.
package struct SideFilePaths: Sendable {
  /// What the sample belongs to; those that say nothing belong to nothing.
  package var link: String
  /// What is in the file.
  package var content: String
  /// The name of the file, if several samples may be of one.
  package var path: String?

  package init(link: String, content: String, path: String? = nil) {
    (self.link, self.content, self.path) = (link, content, path)
  }
}

extension Payload {
  /// The kinds that have files.
  package static let sideFileTypes: [any SideFilePayload.Type] = contentTypes.compactMap {
    $0 as? any SideFilePayload.Type
  }
}

extension SampleKey {
  /// The other identity of a record with this key, if it is of a kind that has files.
  public func sideFileIdentity(_ payload: Payload, ordinal: Int) -> SideFileIdentity? {
    guard let content = payload.content as? any SideFilePayload, let other = content.otherKeyKind(kind) else {
      return nil
    }
    var key = self
    key.kind = other
    return SideFileIdentity(uuid: key.uuid(ordinal: ordinal), isBare: content.hasFile)
  }
}
