import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import Destinations

@Suite("S3", .timeLimit(.minutes(5)), .enabled(if: MotoServer.isHere, "\(MotoServer.missing)"))
struct S3Tests {
  private let moto: MotoServer
  private let home: DestinationHome
  private let prefix = UUID().uuidString.lowercased()

  init() throws {
    moto = try #require(MotoServer.shared)
    home = try DestinationHome()
  }

  private func destination(
    _ changes: [String: DestinationSettings.Value] = [:], secrets: [String: String]? = nil
  ) throws -> S3Destination {
    try home.make(
      S3Destination.self, moto.settings(prefix).merging(changes) { $1 }, secrets: secrets ?? moto.secrets)
  }

  private func client(
    _ changes: [String: DestinationSettings.Value] = [:], now: @escaping @Sendable () -> Timestamp = { .now }
  ) throws -> S3Client {
    let settings = try DestinationSettings(
      name: "test", moto.settings(prefix).merging(changes) { $1 }, of: S3Destination.description)
    return try S3Client(settings, AWSCredentialSource(settings, SecretStore(environment: moto.secrets)), now: now)
  }

  private func store(_ client: S3Client) -> S3ObjectStore { S3ObjectStore(client, encryption: .none) }

  /// Returns the reason of a failed check.
  private func complaint(_ destination: S3Destination) async -> String? {
    defer { Task { await destination.close() } }
    do {
      try await destination.check()
      return nil
    } catch { return "\(error)" }
  }

  /// Returns whether each record is marked as deleted, by UUID.
  private func records() throws -> [String: Bool] {
    let text = try moto.boto(
      """
      import json
      for page in s3.get_paginator("list_objects_v2").paginate(Bucket="health", Prefix="\(prefix)/"):
          for o in page.get("Contents", []):
              if o["Key"].endswith("data.jsonl"):
                  body = s3.get_object(Bucket="health", Key=o["Key"])["Body"].read().decode()
                  for line in body.split("\\n"):
                      r = json.loads(line)
                      print(r["uuid"], r["deleted"])
      """)
    var records: [String: Bool] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      #expect(records[String(words[0])] == nil)
      records[String(words[0])] = words[1] == "True"
    }
    return records
  }

  @Test("everything arrives once, also twice, and what is deleted is marked so")
  func delivery() async throws {
    var maker = SampleMaker(seed: 9)
    let samples = (0..<300).map { maker.steps(at: $0 * 30) }
    try await home.add(samples)
    let place = try destination()
    try await place.check()
    #expect(try await home.deliver(to: place).delivered == 300)
    try await home.delete([samples[7]])
    _ = try await home.deliver(to: place)
    await place.close()
    let records = try records()
    #expect(Set(records.keys) == Set(samples.map(\.uuid.uuidString)))
    #expect(records.filter(\.value).keys.map { $0 } == [samples[7].uuid.uuidString])
    #expect(
      try moto.boto(#"print(s3.list_objects_v2(Bucket="health", Prefix="\#(prefix)/.hpeer")["KeyCount"])"#) == "0\n")
  }

  @Test("two writers at once lose nothing")
  func twoWriters() async throws {
    let other = try DestinationHome()
    var maker = SampleMaker(seed: 10)
    let (first, second) = ((0..<120).map { maker.steps(at: $0 * 10) }, (0..<120).map { maker.steps(at: $0 * 10 + 5) })
    try await home.add(first)
    try await other.add(second)
    let place = try destination()
    let same: S3Destination = try other.make(S3Destination.self, moto.settings(prefix), secrets: moto.secrets)
    async let one = home.courier(to: place).run()
    async let two = other.courier(to: same).run()
    #expect(try await one.delivered + two.delivered == 240)
    #expect(Set(try records().keys) == Set((first + second).map(\.uuid.uuidString)))
    await place.close()
    await same.close()
  }

  @Test("conditions hold, and names may be odd")
  func objects() async throws {
    let client = try client()
    let store = store(client)
    let name = "\(prefix)/odd/a~b-c_d.e"
    #expect(try await store.get(name) == nil)
    try await store.put([1], at: name, contentType: "text/plain", if: .absent)
    await #expect(throws: ObjectConflict.self) {
      try await store.put([2], at: name, contentType: "text/plain", if: .absent)
    }
    let object = try #require(try await store.get(name))
    #expect(object.bytes == [1])
    try await store.put([3], at: name, contentType: "text/plain", if: .unchanged(object.version))
    await #expect(throws: ObjectConflict.self) {
      try await store.put([4], at: name, contentType: "text/plain", if: .unchanged(object.version))
    }
    try await store.delete(name)
    try await store.delete(name)
    await #expect(throws: ObjectConflict.self) {
      try await store.put([4], at: name, contentType: "text/plain", if: .unchanged(object.version))
    }
    await client.close()
  }

  @Test("what is large goes in parts, under the same conditions")
  func parts() async throws {
    let client = try client()
    let store = S3ObjectStore(client, encryption: .none, threshold: 6 << 20, part: 5 << 20)
    let bytes = (0..<(12 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let name = "\(prefix)/large"
    try await store.put(bytes, at: name, contentType: "text/plain", if: .absent)
    let object = try #require(try await store.get(name))
    #expect(object.bytes == bytes)
    #expect(object.version.rawValue.hasSuffix("-3\""))
    await #expect(throws: ObjectConflict.self) {
      try await store.put(bytes, at: name, contentType: "text/plain", if: .absent)
    }
    try await store.put(bytes, at: name, contentType: "text/plain", if: .unchanged(object.version))
    #expect(try moto.boto(#"print("Uploads" in s3.list_multipart_uploads(Bucket="health"))"#) == "False\n")
    await client.close()
  }

  @Test("objects are encrypted as the settings say")
  func encryption() async throws {
    var maker = SampleMaker(seed: 1)
    try await home.add([maker.steps(at: 0)])
    let place = try destination(["encryption": .text("AES256")])
    _ = try await home.deliver(to: place)
    await place.close()
    let said = try moto.boto(
      """
      for o in s3.list_objects_v2(Bucket="health", Prefix="\(prefix)/")["Contents"]:
          print(s3.head_object(Bucket="health", Key=o["Key"])["ServerSideEncryption"])
      """)
    #expect(said == "AES256\nAES256\nAES256\n")
  }

  // MARK: What is wrong

  @Test("wrong credentials and a bucket that is not there are said in a sentence")
  func complaints() async throws {
    let wrong = try destination(secrets: ["KEY": moto.accessKey, "SECRET": "wrong"])
    #expect(await complaint(wrong)?.contains("the credentials are wrong") == true)
    let unknown = try destination(secrets: ["KEY": "AKIAUNKNOWN", "SECRET": "wrong"])
    #expect(await complaint(unknown)?.contains("the credentials are wrong") == true)
    let nowhere = try destination(["bucket": .text("nowhere")])
    #expect(await complaint(nowhere)?.contains("there is no bucket nowhere") == true)
  }

  @Test("the first half of a pair of keys is not enough, and a profile is read")
  func credentials() throws {
    func settings(_ values: [String: DestinationSettings.Value]) throws -> DestinationSettings {
      try DestinationSettings(
        name: "x", ["bucket": .text("health")].merging(values) { $1 }, of: S3Destination.description)
    }
    #expect(throws: SettingsError.self) {
      try AWSCredentialSource(
        settings(["access-key": .text("env:KEY")]), SecretStore(environment: ["KEY": "a"]), environment: [:]
      ).read()
    }
    let folder = try TemporaryDirectory()
    try """
    # mine
    [default]
    aws_access_key_id = A
    aws_secret_access_key=B
    [ada]
    aws_access_key_id = C
    aws_secret_access_key = D/=
    aws_session_token = E
    """.write(toFile: folder.path("credentials"), atomically: true, encoding: .utf8)
    let environment = ["AWS_SHARED_CREDENTIALS_FILE": folder.path("credentials")]
    func read(_ values: [String: DestinationSettings.Value], _ more: [String: String] = [:]) throws -> AWSCredentials {
      try AWSCredentialSource(
        settings(values), SecretStore(environment: [:]), environment: environment.merging(more) { $1 }
      ).read()
    }
    #expect(try read([:]) == AWSCredentials(accessKey: "A", secretKey: "B"))
    #expect(try read(["profile": .text("ada")]) == AWSCredentials(accessKey: "C", secretKey: "D/=", sessionToken: "E"))
    let own = ["AWS_ACCESS_KEY_ID": "F", "AWS_SECRET_ACCESS_KEY": "G", "AWS_SESSION_TOKEN": "H"]
    #expect(try read([:], own) == AWSCredentials(accessKey: "F", secretKey: "G", sessionToken: "H"))
    #expect(try read(["profile": .text("ada")], own).accessKey == "C")
    #expect(throws: SettingsError.self) { try read(["profile": .text("bob")]) }
    #expect(!"\(try read([:], own))".contains("G"))
  }

  @Test(
    "a bucket is in the path or before the name",
    arguments: [
      ([:], "https://health.s3.us-east-1.amazonaws.com", "/"),
      (["region": .text("cn-north-1")], "https://health.s3.cn-north-1.amazonaws.com.cn", "/"),
      (["bucket": .text("he.alth")], "https://s3.us-east-1.amazonaws.com", "/he.alth/"),
      (["endpoint": .text("http://nas:9000/base/")], "http://nas:9000", "/base/health/"),
      (
        ["endpoint": .text("https://s3.example.org:443"), "addressing": .text("virtual")],
        "https://health.s3.example.org", "/"
      ),
      (["addressing": .text("path")], "https://s3.us-east-1.amazonaws.com", "/health/"),
    ] as [([String: DestinationSettings.Value], String, String)])
  func addresses(values: [String: DestinationSettings.Value], url: String, path: String) throws {
    let bucket = try S3Bucket(
      DestinationSettings(
        name: "x", ["bucket": .text("health")].merging(values) { $1 }, of: S3Destination.description))
    #expect(bucket.url.absoluteString == url)
    #expect(bucket.path == path)
  }

  @Test("a name that is none is refused", arguments: ["ab", "-abc", "Abc", "a_b", "a/b", "abc."])
  func bucketNames(name: String) {
    #expect(throws: SettingsError.self) {
      try S3Bucket(DestinationSettings(name: "x", ["bucket": .text(name)], of: S3Destination.description))
    }
  }
}
