import Foundation

/// The alternative identity of an export record that depends on a file beside the XML. A record has different
/// identities with and without its file, so that a later export that includes the file is recognized as new.
public struct SideFileIdentity: Hashable, Sendable {
  /// The alternative identity, which is never that of the record itself.
  public var uuid: UUID
  /// Whether ``uuid`` is the identity of the record without its file.
  public var isBare: Bool

  /// Creates an identity as computed by ``SampleKey/sideFileIdentity(_:ordinal:)`` or read from a store.
  public init(uuid: UUID, isBare: Bool) {
    self.uuid = uuid
    self.isBare = isBare
  }
}

/// A payload that Apple's export stores partly in a file beside the XML. Its identity depends on whether the file was
/// present.
package protocol SideFilePayload: SamplePayload {
  /// Whether the payload includes the content of its file.
  var hasFile: Bool { get }

  /// Returns the key kind that the record has with its file if it has none, and vice versa, or `nil` if `kind` is not
  /// this payload's own key kind.
  func otherKeyKind(_ kind: String) -> String?

  /// The JSON paths of the members by which a store distinguishes these records.
  static var sideFilePaths: SideFilePaths { get }

  /// Returns a payload that counts as having its file for identity purposes, and the kind of its key.
  ///
  /// - Parameter link: the text at ``SideFilePaths/link``, or `nil` if there is none.
  static func withFile(link: String?) -> (content: Self, keyKind: String)
}

/// The JSON paths of a ``SideFilePayload``, in the syntax of SQLite's `json_extract`: `$.workout`.
package struct SideFilePaths: Sendable {
  /// The path of the reference to the sample's owner. A sample without this member belongs to no other.
  package var link: String
  /// The path of the file's content.
  package var content: String
  /// The path of the file's name, if several samples may come from one file.
  package var path: String?

  package init(link: String, content: String, path: String? = nil) {
    (self.link, self.content, self.path) = (link, content, path)
  }
}

extension Payload {
  /// The payload types that have side files.
  package static let sideFileTypes: [any SideFilePayload.Type] = contentTypes.compactMap {
    $0 as? any SideFilePayload.Type
  }
}

extension SampleKey {
  /// Returns the alternative identity of a record with this key, or `nil` if its payload has no side file.
  public func sideFileIdentity(_ payload: Payload, ordinal: Int) -> SideFileIdentity? {
    guard let content = payload.content as? any SideFilePayload, let other = content.otherKeyKind(kind) else {
      return nil
    }
    var key = self
    key.kind = other
    return SideFileIdentity(uuid: key.uuid(ordinal: ordinal), isBare: content.hasFile)
  }
}
