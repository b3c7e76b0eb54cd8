import Foundation
import HealthFormats
import HealthModel
import TestSupport
import Testing

@testable import Destinations

@Suite("Reading a bucket back", .timeLimit(.minutes(5)), .enabled(if: MotoServer.isHere, "\(MotoServer.missing)"))
struct S3DownloadTests {
  @Test("what was delivered is read back whole")
  func roundTrip() async throws {
    let moto = try #require(MotoServer.shared)
    let home = try DestinationHome()
    let prefix = UUID().uuidString.lowercased()
    var maker = SampleMaker(seed: 21)
    let samples = maker.samples(60)
    try await home.add(samples)
    let place: S3Destination = try home.make(S3Destination.self, moto.settings(prefix), secrets: moto.secrets)
    let delivered = try await home.deliver(to: place).delivered
    await place.close()
    let environment = [
      "AWS_ENDPOINT_URL": moto.endpoint, "AWS_REGION": MotoServer.region, "AWS_ACCESS_KEY_ID": moto.accessKey,
      "AWS_SECRET_ACCESS_KEY": moto.secretKey,
    ]
    let folder = home.directory.path("bucket")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let count = try await DayFilesDownload(address: "s3://health/\(prefix)/", environment: environment).run(
      into: folder)
    #expect(count > 0)
    var read: [UUID: Sample] = [:]
    _ = try #require(HealthPushFolder(at: folder)).read(repairsUnits: false) { batch in
      let expander = try ChangeExpander(batch.changes)
      for row in batch.changes.samples { read[row.uuid] = try expander.sample(row) }
    }
    #expect(read.count == delivered)
    for sample in samples {
      guard let found = read[sample.uuid] else { continue }
      #expect(try CanonicalJSON.encode(found) == CanonicalJSON.encode(sample))
    }
    #expect(try await DayFilesDownload(address: "s3://health/nothing", environment: environment).run(into: folder) == 0)
  }

  @Test("what is no address, or has no credentials, is said", arguments: ["s3://", "http://x/y", "s3://Bad_Name/x"])
  func addresses(url: String) {
    #expect(throws: DayFilesDownloadError.self) {
      try DayFilesDownload(address: url, environment: ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"])
    }
    #expect(throws: DayFilesDownloadError.self) {
      try DayFilesDownload(address: "s3://health/x", environment: ["HOME": "/nowhere"])
    }
  }

  @Test("names that lead out of the folder, and lists without an end, do no harm")
  func hostileLists() {
    let page = S3Page(
      Array(
        """
        <ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>v1/..%2F..%2F/a</Key></Contents>\
        <Contents><Key>%zz</Key></Contents><Contents/><Contents><Key>v1/a/2024/01/02/data.jsonl</Key>\
        <LastModified>2024-01-02T00:00:00.000Z</LastModified></Contents></ListBucketResult>
        """.utf8))
    #expect(page.objects.map(\.name) == ["v1/../..//a", "v1/a/2024/01/02/data.jsonl"])
    #expect(page.next == nil)
    #expect(HealthPushFolder.key(of: page.objects[0].name) == nil)
  }
}
