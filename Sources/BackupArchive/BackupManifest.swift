import Foundation

/// The manifest of a backup: `manifest.json`, its first file, which describes the others.
public struct BackupManifest: Codable, Hashable, Sendable {
  /// The name of the manifest in the archive.
  public static let fileName = "manifest.json"
  /// The version that this program writes, and the newest that it reads.
  public static let currentVersion = 1
  static let formatName = "hpeer-backup"
  /// The maximum length of a manifest that is read, in bytes.
  static let mostBytes = 4 << 20

  /// The contents of a backup.
  public enum Contents: String, Codable, Sendable {
    /// The record, and nothing that would allow others to impersonate this machine.
    case record
    /// The record, and also the identity, the paired machines with their tokens, the settings and the secrets.
    case everything
  }

  /// A file of the backup.
  public struct File: Codable, Hashable, Sendable {
    /// The name of the file in the archive.
    public var name: String
    public var bytes: Int64
    /// The SHA-256 of the file in 64 hexadecimal digits.
    public var sha256: String

    /// Creates a file entry without checking it.
    public init(name: String, bytes: Int64, sha256: String) {
      (self.name, self.bytes, self.sha256) = (name, bytes, sha256)
    }
  }

  /// The counts and digests of the record over all types, as `hpeer digest` computes them.
  public struct Record: Codable, Hashable, Sendable {
    public var samples: Int
    /// The digest of the samples in 32 hexadecimal digits.
    public var digest: String
    /// The number of tombstones.
    public var deleted: Int
    /// The digest of the tombstones in 32 hexadecimal digits.
    public var deletedDigest: String

    /// Creates a record entry without checking it.
    public init(samples: Int, digest: String, deleted: Int, deletedDigest: String) {
      (self.samples, self.digest, self.deleted, self.deletedDigest) = (samples, digest, deleted, deletedDigest)
    }
  }

  /// The constant that identifies the file format.
  public private(set) var format = formatName
  /// The ``currentVersion`` of the program that wrote the backup.
  public private(set) var version = currentVersion
  /// The date of the backup's copies.
  public var created: Date
  /// The version of the program that wrote the backup.
  public var program: String
  public var contents: Contents
  /// The host name of the machine; `nil` in a backup of the record alone.
  public var host: String?
  /// The folder of settings and secrets, which settings refer to; `nil` in a backup of the record alone.
  public var configuration: String?
  public var record: Record
  /// The files that follow the manifest.
  public var files: [File]

  /// Creates a manifest.
  /// - Parameter created: the date of the copies; stored in whole seconds.
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

  /// The total size of all files in bytes; `Int64.max` if the sum overflows.
  public var bytes: Int64 {
    files.reduce(Int64(0)) { sum, file in
      let (total, overflows) = sum.addingReportingOverflow(file.bytes)
      return overflows ? .max : total
    }
  }
}
