import AgeEncryption
import Destinations
import Foundation
import HealthModel
import OperatingSystem

/// Why there is no backup in the folder that backups are kept in.
public enum KeptBackupFailure: Error, Hashable, Sendable {
  /// The folder is not there: its disk may be away.
  case noFolder(String)
  /// The file that is to have the passphrase is not there, or cannot be read.
  case noPassphraseFile(String)
  /// The file that is to have the passphrase has none.
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

/// Backups of a home in a folder, of which the newest are kept.
///
/// ```swift
/// func everyNight(_ home: Home) async throws {
///   let kept = KeptBackups(folder: "/media/stick", recipients: [], passphraseFile: "/root/passphrase", count: 7)
///   print(try await kept.add(of: home, program: "1.0", at: .now))
/// }
/// ```
public struct KeptBackups: Hashable, Sendable {
  /// Absolute.
  public var folder: String
  /// Public keys of age; empty where a passphrase is used.
  public var recipients: [String]
  /// Absolute; its first line is the passphrase.
  public var passphraseFile: String?
  /// How many are kept.
  public var count: Int

  /// Exactly one of recipients and passphrase file is given.
  public init(folder: String, recipients: [String], passphraseFile: String?, count: Int) {
    (self.folder, self.recipients, self.passphraseFile, self.count) = (folder, recipients, passphraseFile, count)
  }

  /// Makes a backup, then removes the oldest of those that were made so of this home, but for the newest ones.
  ///
  /// - Parameter program: the version of this program.
  /// - Returns: the name of the file, which has the time in UTC.
  /// - Throws: ``KeptBackupFailure``, or what ``BackupOperation`` does: nothing is removed then.
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

  /// - Parameter newest: stays, whatever clock the others were named by.
  private func removeOldest(_ names: Names, but newest: String) {
    let found = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let own = found.filter { names.isOwn($0) && $0 != newest }.sorted()
    for name in own.dropLast(count - 1) { unlink("\(folder)/\(name)") }
    // What a process that was killed has left.
    for name in found where names.isLeft(name, in: folder) { unlink("\(folder)/\(name)") }
  }

  /// The names of backups of one record: several machines may keep theirs in one folder.
  private struct Names {
    private static let (beginning, ending) = ("hpeer-", ".tar.zst.age")
    /// In UTC, so that names sort as they were made.
    private static let form = "yyyy-MM-dd'T'HHmmss'Z'"
    private static let dateLength = 18
    /// In seconds: no backup takes so long.
    private static let oldest = 86_400.0

    /// The beginning of the record's identifier.
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

    /// Whether a file was named so: what a person, or another machine, has put beside them stays.
    func isOwn(_ name: String) -> Bool {
      guard name.hasPrefix(Self.beginning), name.hasSuffix(mark + Self.ending) else { return false }
      let date = name.utf8.dropFirst(Self.beginning.utf8.count).dropLast((mark + Self.ending).utf8.count)
      return date.count == Self.dateLength && date.allSatisfy { (0x30...0x39).contains($0) || "-TZ".utf8.contains($0) }
    }

    /// Whether a file is what a backup was to become that was never finished.
    func isLeft(_ name: String, in folder: String) -> Bool {
      guard name.hasPrefix("." + Self.beginning), name.contains(mark + Self.ending), name.hasSuffix(".partial"),
        let status = FileStatus("\(folder)/\(name)")
      else { return false }
      return status.modified.timeIntervalSinceNow < -Self.oldest
    }
  }
}
