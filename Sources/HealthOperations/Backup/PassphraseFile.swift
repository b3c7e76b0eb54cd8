/// The format of a file with the passphrase of a backup.
public enum PassphraseFile {
  /// Returns the passphrase, which is the first line of a file's text. Making and opening backups use the same line.
  ///
  /// ```swift
  /// let passphrase = PassphraseFile.passphrase(in: "correct horse battery\n")  // "correct horse battery"
  /// ```
  ///
  /// - Returns: the line without its end; `nil` if it is empty.
  public static func passphrase(in text: String) -> String? {
    let line = text.utf8.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }
}
