import AgeEncryption
import Destinations
import Foundation
import HealthModel
import OperatingSystem

/// Why there is no backup in the folder that backups are kept in.
public enum KeptBackupFailure: Error, Hashable, Sendable {
  /// The folder is not there: its disk may be away.
  case noFolder(String)
  /// The file that is to have the passphrase has none.
  case noPassphrase(file: String)
}

extension KeptBackupFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noFolder(let path): "There is no folder \(path) for the backup: make it, or put its disk back."
    case .noPassphrase(let file): "\(file) has no passphrase: its first line must be one."
    }
  }
}

/// Backups of a home in a folder, of which the newest are kept.
///
/// ```swift
/// func everyNight(_ home: Home) async throws {
///   let kept = KeptBackups(folder: "/media/stick", recipients: [], passphraseFile: "/root/passphrase", count: 7)
///   print(try await kept.add(of: home, program: "1.0", at: .now, in: .current))
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

  /// Makes a backup, then removes the oldest of those that were made so, but for the newest ones.
  ///
  /// - Parameters:
  ///   - program: the version of this program.
  ///   - zone: whose clock is in the file's name.
  /// - Returns: the name of the file.
  /// - Throws: ``KeptBackupFailure``, or what ``BackupOperation`` does: nothing is removed then.
  public func add(of home: Home, program: String, at now: Timestamp, in zone: TimeZone) async throws -> String {
    let isFolder = await onThread { [folder] _ in FileStatus(folder)?.isDirectory == true }
    guard isFolder else { throw KeptBackupFailure.noFolder(folder) }
    let operation = BackupOperation(home, for: try await keys(), program: program)
    let name = Self.name(now, zone)
    _ = try await operation.run(to: .file(path: "\(folder)/\(name)", replaces: false))
    await onThread { [self] _ in removeOldest() }
    return name
  }

  private func keys() async throws -> [AgeRecipient] {
    guard let passphraseFile else {
      return try recipients.map { text throws(AgeError) in try AgeRecipient(text) }
    }
    guard case .text(let text) = await onThread({ _ in FileContents(path: passphraseFile) }) else {
      throw KeptBackupFailure.noPassphrase(file: passphraseFile)
    }
    let line = text.utf8.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard !line.isEmpty else { throw KeptBackupFailure.noPassphrase(file: passphraseFile) }
    return [.passphrase(String(decoding: line, as: UTF8.self))]
  }

  // MARK: Names

  private static let (beginning, ending) = ("hpeer-", ".tar.zst.age")
  private static let form = "yyyy-MM-dd-HHmmss"

  private static func name(_ now: Timestamp, _ zone: TimeZone) -> String {
    let formatter = DateFormatter()
    (formatter.locale, formatter.timeZone, formatter.dateFormat) = (Locale(identifier: "en_US_POSIX"), zone, form)
    let date = formatter.string(from: Date(timeIntervalSince1970: Double(now.seconds)))
    return beginning + date + ending
  }

  /// Whether a file was named by this: what a person has put beside them stays.
  private static func isOwn(_ name: String) -> Bool {
    guard name.hasPrefix(beginning), name.hasSuffix(ending) else { return false }
    let date = name.utf8.dropFirst(beginning.utf8.count).dropLast(ending.utf8.count)
    return date.count == form.utf8.count
      && zip(date, form.utf8).allSatisfy { byte, place in
        place == UInt8(ascii: "-") ? byte == place : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }

  private func removeOldest() {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter(Self.isOwn).sorted()
    for name in names.dropLast(count) { unlink("\(folder)/\(name)") }
  }
}
