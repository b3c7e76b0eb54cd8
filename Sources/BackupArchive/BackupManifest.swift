import Foundation

/// `manifest.json`, the first file of a backup: what the others are.
public struct BackupManifest: Codable, Hashable, Sendable {
  /// Within the archive.
  public static let fileName = "manifest.json"
  /// Of what this program writes, and the newest that it reads.
  public static let currentVersion = 1
  static let formatName = "hpeer-backup"
  /// Bytes of a manifest that is read.
  static let mostBytes = 4 << 20

  /// What a backup holds.
  public enum Contents: String, Codable, Sendable {
    /// The record, and nothing by which anybody could pose as this machine.
    case record
    /// Also the identity, the paired machines with their tokens, the settings and secrets.
    case everything
  }

  /// A file of the backup.
  public struct File: Codable, Hashable, Sendable {
    /// Within the archive.
    public var name: String
    public var bytes: Int64
    /// 64 hexadecimal digits.
    public var sha256: String

    /// Not checked.
    public init(name: String, bytes: Int64, sha256: String) {
      (self.name, self.bytes, self.sha256) = (name, bytes, sha256)
    }
  }

  /// Counts and digests of the record, as `hpeer digest` computes them, over all types.
  public struct Record: Codable, Hashable, Sendable {
    public var samples: Int
    /// 32 hexadecimal digits.
    public var digest: String
    /// Known deletions.
    public var deleted: Int
    /// 32 hexadecimal digits.
    public var deletedDigest: String

    /// Not checked.
    public init(samples: Int, digest: String, deleted: Int, deletedDigest: String) {
      (self.samples, self.digest, self.deleted, self.deletedDigest) = (samples, digest, deleted, deletedDigest)
    }
  }

  /// Always the same: what kind of file it is.
  public private(set) var format = formatName
  /// ``currentVersion`` of the program that wrote it.
  public private(set) var version = currentVersion
  /// When the copies were made.
  public var created: Date
  /// The version of the program.
  public var program: String
  public var contents: Contents
  /// What the machine was called; `nil` in a backup of the record alone.
  public var host: String?
  /// The folder of settings and secrets, by which settings name files of secrets; `nil` likewise.
  public var configuration: String?
  public var record: Record
  /// Those that follow.
  public var files: [File]

  /// - Parameter created: kept to the second.
  public init(
    created: Date, program: String, contents: Contents, host: String? = nil, configuration: String? = nil,
    record: Record, files: [File]
  ) {
    self.created = created
    self.program = program
    self.contents = contents
    self.host = host
    self.configuration = configuration
    self.record = record
    self.files = files
  }

  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
  }

  init(_ bytes: [UInt8]) throws(BackupError) {
    struct Head: Decodable {
      var format: String
      var version: Int
    }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    guard let head = try? decoder.decode(Head.self, from: Data(bytes)), head.format == Self.formatName else {
      throw .notABackup
    }
    guard head.version <= Self.currentVersion else { throw .newer(version: head.version) }
    guard let manifest = try? decoder.decode(Self.self, from: Data(bytes)),
      manifest.files.allSatisfy({ $0.bytes >= 0 && $0.sha256.utf8.count == 64 }),
      Set(manifest.files.map(\.name)).count == manifest.files.count, manifest.record.samples >= 0,
      manifest.record.deleted >= 0
    else { throw .damaged("its manifest cannot be read") }
    self = manifest
  }

  /// Of all files, in bytes; more than there can be for what would overflow.
  public var bytes: Int64 {
    files.reduce(Int64(0)) { sum, file in
      let (total, overflows) = sum.addingReportingOverflow(file.bytes)
      return overflows ? .max : total
    }
  }
}
