/// A file that has the passphrase of a backup.
public enum PassphraseFile {
  /// The first line of a file's text, which is the passphrase: what makes backups and what opens them read it alike.
  ///
  /// ```swift
  /// let passphrase = PassphraseFile.passphrase(in: "correct horse battery\n")  // "correct horse battery"
  /// ```
  ///
  /// - Returns: without the end of the line; `nil` where there is nothing before it.
  public static func passphrase(in text: String) -> String? {
    let line = text.utf8.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }
}
