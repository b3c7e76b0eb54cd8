import Foundation

/// What may stand in a header (RFC 9110, section 5).
enum HTTPHeaderText {
  /// A token.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
          || "!#$%&'*+-.^_`|~".utf8.contains($0)
      }
  }

  /// No control character but a tab: a line break would begin another header.
  static func isValue(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }

  /// `Authorization` of RFC 7617, in UTF-8.
  static func basic(_ user: String, _ password: String) -> (name: String, value: String) {
    ("Authorization", "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
  }

  /// `Authorization` of RFC 6750.
  static func bearer(_ token: String) -> (name: String, value: String) { ("Authorization", "Bearer \(token)") }
}
