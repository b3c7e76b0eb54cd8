import AgeEncryption
import Destinations
import Foundation
import HealthModel
import OperatingSystem

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

/// The reasons why no backup was made in the folder for kept backups.
public enum KeptBackupFailure: Error, Hashable, Sendable {
  /// The folder does not exist; its disk may be disconnected.
  case noFolder(String)
  /// The passphrase file does not exist or cannot be read.
  case noPassphraseFile(String)
  /// The passphrase file has no passphrase.
  case noPassphrase(file: String)
}

extension KeptBackupFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noFolder(let path): "There is no folder \(path) for the backup: make it, or put its disk back."
    case .noPassphraseFile(let file):
      "There is no file \(file) that can be read, whose first line would be the passphrase."
    case .noPassphrase(let file): "\(file) has no passphrase: its first line must be one."
    }
  }
}

/// A series of backups of a home in a folder, of which the newest are kept.
///
/// ```swift
/// func everyNight(_ home: Home) async throws {
///   let kept = BackupRotation(folder: "/media/stick", recipients: [], passphraseFile: "/root/passphrase", count: 7)
///   print(try await kept.add(of: home, program: "1.0", at: .now))
/// }
/// ```
public struct BackupRotation: Hashable, Sendable {
  /// The absolute path of the folder.
  public var folder: String
  /// The public age keys; empty if a passphrase is used.
  public var recipients: [String]
  /// The absolute path of a file whose first line is the passphrase.
  public var passphraseFile: String?
  /// The number of backups to keep, at least 1.
  public var count: Int

  /// Creates a series. Give either recipients or a passphrase file.
  public init(folder: String, recipients: [String], passphraseFile: String?, count: Int) {
    (self.folder, self.recipients, self.passphraseFile, self.count) = (folder, recipients, passphraseFile, count)
  }

  /// Makes a backup, then removes the oldest backups of this home in the folder, except the newest ``count``.
  ///
  /// - Parameter program: the version of this program.
  /// - Returns: the file name, which contains the time in UTC.
  /// - Throws: ``KeptBackupFailure``, or the errors of ``BackupOperation``; then nothing is removed.
  public func add(of home: Home, program: String, at now: Timestamp) async throws -> String {
    let isFolder = await onThread { [folder] _ in FileStatus(folder)?.isDirectory == true }
    guard isFolder else { throw KeptBackupFailure.noFolder(folder) }
    let operation = BackupOperation(home, for: try await keys(), program: program)
    let id = try home.openStoreForReading().id
    let names = Names(store: id.uuidString.lowercased())
    let name = names.name(at: now)
    _ = try await operation.run(to: .file(path: "\(folder)/\(name)", replaces: false))
    await onThread { [self] _ in removeOldest(names, but: name) }
    return name
  }

  private func keys() async throws -> [AgeRecipient] {
    guard let passphraseFile else {
      return try recipients.map { text throws(AgeError) in try AgeRecipient(text) }
    }
    guard case .text(let text) = await onThread({ _ in FileContents(path: passphraseFile) }) else {
      throw KeptBackupFailure.noPassphraseFile(passphraseFile)
    }
    guard let passphrase = PassphraseFile.passphrase(in: text) else {
      throw KeptBackupFailure.noPassphrase(file: passphraseFile)
    }
    return [.passphrase(passphrase)]
  }

  /// Removes the oldest backups of this home, and temporary files of killed backups.
  ///
  /// - Parameter newest: the name of the new backup, which stays even if the clock was wrong for the others.
  private func removeOldest(_ names: Names, but newest: String) {
    let found = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let own = found.filter { names.isOwn($0) && $0 != newest }.sorted()
    for name in own.dropLast(count - 1) { unlink("\(folder)/\(name)") }
    // A killed backup leaves a partial file behind.
    for name in found where names.isLeft(name, in: folder) { unlink("\(folder)/\(name)") }
  }

  /// The names of the backups of one record. Several machines may share one folder.
  private struct Names {
    private static let (beginning, ending) = ("hpeer-", ".tar.zst.age")
    /// The date format in UTC, so that names sort by time.
    private static let form = "yyyy-MM-dd'T'HHmmss'Z'"
    private static let dateLength = 18
    /// The age in seconds at which a partial file counts as abandoned; no backup takes that long.
    private static let oldest = 86_400.0

    /// The first digits of the record's identifier.
    private let mark: String

    init(store: String) { mark = "-" + store.prefix(8) }

    func name(at now: Timestamp) -> String {
      let formatter = DateFormatter()
      (formatter.locale, formatter.timeZone, formatter.dateFormat) = (
        Locale(identifier: "en_US_POSIX"), TimeZone(secondsFromGMT: 0), Self.form
      )
      let date = formatter.string(from: Date(timeIntervalSince1970: Double(now.seconds)))
      return Self.beginning + date + mark + Self.ending
    }

    /// Returns whether a file name was made by this type, so that files of people and of other machines stay.
    func isOwn(_ name: String) -> Bool {
      guard name.hasPrefix(Self.beginning), name.hasSuffix(mark + Self.ending) else { return false }
      let date = name.utf8.dropFirst(Self.beginning.utf8.count).dropLast((mark + Self.ending).utf8.count)
      return date.count == Self.dateLength && date.allSatisfy { (0x30...0x39).contains($0) || "-TZ".utf8.contains($0) }
    }

    /// Returns whether a file is the partial file of a backup that was abandoned.
    func isLeft(_ name: String, in folder: String) -> Bool {
      guard name.hasPrefix("." + Self.beginning), name.contains(mark + Self.ending), name.hasSuffix(".partial"),
        let status = FileStatus("\(folder)/\(name)")
      else { return false }
      return status.modified.timeIntervalSinceNow < -Self.oldest
    }
  }
}
