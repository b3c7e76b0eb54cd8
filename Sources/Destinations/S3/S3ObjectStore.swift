import Foundation
import OperatingSystem
import Synchronization

/// An object store in an S3 bucket.
struct S3ObjectStore: ObjectStore {
  /// The server-side encryption of objects.
  enum Encryption: Hashable, Sendable {
    case none
    /// Encryption with keys that S3 manages.
    case s3
    /// Encryption with a key of KMS; `nil` for the account's default key.
    case kms(key: String?)

    var headers: [(name: String, value: String)] {
      switch self {
      case .none: []
      case .s3: [("x-amz-server-side-encryption", "AES256")]
      case .kms(let key):
        [("x-amz-server-side-encryption", "aws:kms")]
          + (key.map { [("x-amz-server-side-encryption-aws-kms-key-id", $0)] } ?? [])
      }
    }
  }

  /// The names for which a GET was forbidden, so that it is unknown whether the objects exist.
  private final class Hidden: Sendable {
    let names = Mutex<Set<String>>([])
  }

  let client: S3Client
  private let encryption: Encryption
  /// The size in bytes above which an object is uploaded in parts of ``part`` bytes.
  private let threshold: Int
  private let part: Int
  private let hidden = Hidden()
  private let isOnlyWriter: Bool

  /// - Parameter isOnlyWriter: whether objects are overwritten even where the server does not look at conditions.
  init(
    _ client: S3Client, encryption: Encryption, threshold: Int = 64 << 20, part: Int = 16 << 20,
    isOnlyWriter: Bool = false
  ) {
    (self.client, self.encryption, self.threshold, self.part) = (client, encryption, threshold, part)
    self.isOnlyWriter = isOnlyWriter
  }

  func get(_ name: String, limit: Int) async throws -> StoredObject? {
    // Where no condition holds, a write would take the place of an object that may not be read.
    try await get(name, limit: limit, absent: isOnlyWriter ? [404] : [403, 404])
  }

  func getKnown(_ name: String, limit: Int) async throws -> StoredObject? {
    try await get(name, limit: limit, absent: [404])
  }

  /// - Parameter absent: the statuses that say that there is no object.
  private func get(_ name: String, limit: Int, absent: Set<Int>) async throws -> StoredObject? {
    do {
      let response = try await client.send(
        S3Client.Request(method: "GET", name: name, longestAnswer: limit), expecting: absent)
      guard let tag = response.header("ETag") else {
        throw DeliveryError.unusable(
          reason: "it gives objects no ETag, without which two writers lose each other's samples")
      }
      return StoredObject(bytes: response.body, version: ObjectVersion(rawValue: tag))
    } catch let failure as S3Failure {
      // Without s3:ListBucket, S3 answers 403 for a missing object as well. A write with If-None-Match will tell.
      if failure.status == 403 { hidden.names.withLock { names in _ = names.insert(name) } }
      return nil
    }
  }

  func put(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) async throws {
    let conditions = Self.headers(condition)
    do {
      if bytes.count > threshold {
        try await putInParts(bytes, at: name, contentType, condition)
      } else {
        _ = try await client.send(
          S3Client.Request(
            method: "PUT", name: name, headers: [("content-type", contentType)] + conditions + encryption.headers,
            body: bytes), expecting: Self.conflicts(condition))
      }
    } catch is S3Failure {
      if condition == .absent, hidden.names.withLock({ $0.contains(name) }) {
        throw DeliveryError.unusable(
          reason: "\(name) is there, and the credentials may not read it: they need s3:GetObject and s3:ListBucket")
      }
      throw ObjectConflict(name: name)
    }
  }

  func delete(_ name: String) async throws {
    do {
      _ = try await client.send(S3Client.Request(method: "DELETE", name: name), expecting: [404])
    } catch is S3Failure {
      // The object is already gone.
    }
  }

  private static func headers(_ condition: PutCondition) -> [(name: String, value: String)] {
    switch condition {
    case .always: []
    case .absent: [("if-none-match", "*")]
    case .unchanged(let version): [("if-match", version.rawValue)]
    }
  }

  /// Returns the statuses that mean that a condition is not met, including a concurrent write of the name, and an
  /// object that has been deleted.
  private static func conflicts(_ condition: PutCondition) -> Set<Int> {
    switch condition {
    case .always: []
    case .absent: [409, 412]
    case .unchanged: [404, 409, 412]
    }
  }

  // MARK: Large objects

  /// Uploads an object in parts. Only one part is copied at a time.
  private func putInParts(
    _ bytes: [UInt8], at name: String, _ contentType: String, _ condition: PutCondition
  ) async throws {
    let begun = try await client.send(
      S3Client.Request(
        method: "POST", name: name, query: [("uploads", "")],
        headers: [("content-type", contentType)] + encryption.headers))
    guard let upload = XMLElements.first("UploadId", in: String(decoding: begun.body, as: UTF8.self)) else {
      throw DeliveryError.unusable(reason: "it does not take objects in parts")
    }
    do {
      var tags: [String] = []
      for start in stride(from: 0, to: bytes.count, by: part) {
        let response = try await client.send(
          S3Client.Request(
            method: "PUT", name: name, query: [("partNumber", String(tags.count + 1)), ("uploadId", upload)],
            body: Array(bytes[start..<min(start + part, bytes.count)])))
        tags.append(response.header("ETag") ?? "")
      }
      let parts = tags.enumerated().map { index, tag in
        "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(Self.escaped(tag))</ETag></Part>"
      }
      _ = try await client.send(
        S3Client.Request(
          method: "POST", name: name, query: [("uploadId", upload)], headers: Self.headers(condition),
          body: Array("<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>".utf8)),
        expecting: Self.conflicts(condition))
    } catch {
      // What is left of it would be paid for, also after a deadline.
      try? await uncancelled { [client] in
        _ = try await client.send(
          S3Client.Request(method: "DELETE", name: name, query: [("uploadId", upload)]), expecting: [404])
      }
      throw error
    }
  }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: "\"", with: "&quot;")
  }
}
