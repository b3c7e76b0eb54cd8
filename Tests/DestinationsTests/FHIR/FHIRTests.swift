import Foundation
import HealthFormats
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import Destinations

private let fhirJudges = PythonEnvironment("fhir")

/// Tests of what a validating server accepts, stores and deletes.
@Suite(
  .serialized, .timeLimit(.minutes(5)), .enabled(if: fhirJudges.folder != nil, "\(fhirJudges.missing)"))
struct FHIRTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  private static let definition = "docs/reference/formats/fhir/StructureDefinition-sample.json"
  private static let token = "s3cret"
  private static let server = Result {
    try ServerProcess(
      fhirJudges.program("python") ?? "", ["Tests/Tools/fhir-server", definition, token], in: root,
      until: "LISTENING ON ")
  }

  private let url: String
  private let home: DestinationHome

  init() throws {
    url = "http://127.0.0.1:\(try Self.server.get().port)/"
    home = try DestinationHome()
  }

  private func destination(
    _ values: [String: DestinationSettings.Value] = [:], token: String = token
  ) throws -> FHIRDestination {
    try home.make(
      FHIRDestination.self,
      values.merging(["url": .text(url), "token": .text("env:TOKEN")]) { first, _ in first }, secrets: ["TOKEN": token])
  }

  private func ask(_ method: String, _ path: String) async throws -> [UInt8] {
    let service = try HTTPServiceTests.service(url)
    let response = try await service.answer(to: HTTPService.Request(method, url + path))
    await service.close()
    return response.body
  }

  private struct Resource: Decodable {
    struct Identifier: Decodable { var value: String }
    struct Reference: Decodable { var reference: String? }
    struct Meta: Decodable { var versionId: String }

    var resourceType: String
    var id: String
    var identifier: [Identifier]
    var meta: Meta
    var subject: Reference?

    var uuid: UUID? { identifier.first.flatMap { UUID(uuidString: String($0.value.dropFirst(9))) } }
  }

  /// Returns the resources of this home's patient by UUID, and the lines for the reference implementation.
  private func resources() async throws -> (mine: [UUID: Resource], lines: [Substring]) {
    let text = String(decoding: try await ask("GET", "_all"), as: UTF8.self)
    let all = try text.split(separator: "\n").map { line in
      (try JSONDecoder().decode(Resource.self, from: Data(line.utf8)), line)
    }
    let store = home.store.id.uuidString.lowercased()
    let patients = all.filter { $0.0.resourceType == "Patient" && $0.0.identifier.first?.value == store }
    guard let patient = patients.first else { return ([:], []) }
    #expect(patients.count == 1)
    let mine = all.filter { $0.0.subject?.reference == "Patient/\(patient.0.id)" }
    let byUUID = Dictionary(mine.compactMap { one in one.0.uuid.map { ($0, one.0) } }) { first, _ in
      Issue.record("a sample twice")
      return first
    }
    return (byUUID, [patient.1] + mine.map(\.1))
  }

  /// Returns the UUIDs of the samples that become resources of their own.
  private func expected(_ samples: [Sample]) -> Set<UUID> {
    var members: Set<UUID> = []
    for sample in samples where sample.type == FHIRWriter.bloodPressure {
      guard case .correlation(let content) = sample.payload else { continue }
      members.formUnion(content.members.filter { FHIRWriter.pressures.contains($0.type) }.map(\.uuid))
    }
    return Set(samples.map(\.uuid)).subtracting(members)
  }

  @Test(
    "every type of the catalogue is taken by a server that validates, once, however often it comes",
    arguments: FHIRBundleKind.allCases)
  func catalogue(_ kind: FHIRBundleKind) async throws {
    let samples = SampleMaker.catalogue
    try await home.add(samples)
    let destination = try destination(["bundle": .text(kind.rawValue)])
    let report = try await home.deliver(to: destination)
    let refused = Set(home.refused().keys.compactMap(UUID.init(uuidString:)))
    #expect(Set(home.refused().values).isSubset(of: ["FHIR has no place for it"]))
    #expect(report.delivered + report.refused == samples.count && report.refused == refused.count)
    let (mine, lines) = try await resources()
    #expect(Set(mine.keys) == expected(samples).subtracting(refused))

    let path = home.directory.path("resources.ndjson")
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
    let said = try output(
      of: fhirJudges.program("python") ?? "",
      ["Tests/Tools/fhir-judge", path, Self.definition, "Tests/Tools/fhir-codes.tsv"], in: Self.root)
    #expect(said.status == 0, "\(said.text)")

    // All of it once more, as after a lost position: replaced, and nothing twice.
    let again = Courier(to: destination, named: "fhir:again", from: home.store, policy: DestinationHome.quick)
    _ = try await again.run()
    let repeated = try await resources().mine
    #expect(Set(repeated.keys) == Set(mine.keys))
    for (uuid, resource) in mine {
      #expect(repeated[uuid]?.meta.versionId == Int(resource.meta.versionId).map { String($0 + 1) })
    }
    await destination.close()
  }

  @Test("two machines that send one record have a patient each, and take nothing from each other")
  func twoMachines() async throws {
    var maker = SampleMaker(seed: 7)
    let samples = (0..<10).map { maker.steps(at: $0) }
    let other = try DestinationHome()
    try await home.add(samples)
    try await other.add(samples)
    let here = try destination()
    let there = try other.make(
      FHIRDestination.self, ["url": .text(url), "token": .text("env:TOKEN")], secrets: ["TOKEN": Self.token])
    _ = try await home.deliver(to: here)
    let mine = try await resources().mine
    _ = try await other.deliver(to: there)
    #expect(try await resources().mine.mapValues(\.meta.versionId) == mine.mapValues(\.meta.versionId))
    try await other.delete(Array(samples.prefix(4)))
    _ = try await other.deliver(to: there)
    #expect(try await Set(resources().mine.keys) == Set(samples.map(\.uuid)))
    await here.close()
    await there.close()
  }

  @Test("a conditional create leaves what is there as it is")
  func create() async throws {
    var maker = SampleMaker(seed: 5)
    try await home.add((0..<10).map { maker.steps(at: $0) })
    let destination = try destination(["write": .text("create")])
    _ = try await home.deliver(to: destination)
    _ = try await Courier(to: destination, named: "fhir:again", from: home.store, policy: DestinationHome.quick).run()
    let mine = try await resources().mine
    #expect(mine.count == 10 && mine.values.allSatisfy { $0.meta.versionId == "1" })
    await destination.close()
  }

  @Test("what is deleted goes, and an answer that is lost changes nothing")
  func deletions() async throws {
    var maker = SampleMaker(seed: 6)
    let samples = (0..<50).map { maker.steps(at: $0) }
    try await home.add(samples)
    let destination = try destination(["batch": .integer(20)])
    _ = try await ask("POST", "_fail?status=503&times=2")
    #expect(try await home.deliver(to: destination) == CourierReport(delivered: 50, retries: 2))
    _ = try await ask("POST", "_fail?status=500&times=1")
    try await home.delete(Array(samples[..<30]))
    #expect(try await home.deliver(to: destination).delivered == 30)
    #expect(Set(try await resources().mine.keys) == Set(samples[30...].map(\.uuid)))
    await destination.close()
  }

  @Test("two pressures are one resource, in whatever order they come")
  func bloodPressure() async throws {
    var maker = SampleMaker(seed: 8)
    let members = [("Systolic", 120.0), ("Diastolic", 80.0)].map { name, value in
      var member = maker.steps(at: 1)
      member.type = SampleType("HKQuantityTypeIdentifierBloodPressure\(name)")
      member.payload = .quantity(Quantity(value, "mmHg"))
      return member
    }
    var correlation = maker.steps(at: 1)
    correlation.type = FHIRWriter.bloodPressure
    correlation.payload = .correlation(Correlation(members: members.map(\.reference)))
    let destination = try destination()
    for sample in [members[0], correlation, members[1]] {
      try await home.add([sample])
      _ = try await home.deliver(to: destination)
    }
    #expect(Set(try await resources().mine.keys) == [correlation.uuid])
    let line = try #require(try await resources().lines.last)
    #expect(!line.contains("dataAbsentReason"))
    try await home.delete([members[1]])
    _ = try await home.deliver(to: destination)
    #expect(try await resources().lines.last?.contains("dataAbsentReason") == true)
    await destination.close()
  }

  @Test("to begin anew deletes what was there, and nobody else's")
  func startsOver() async throws {
    var maker = SampleMaker(seed: 7)
    let samples = (0..<20).map { maker.steps(at: $0) }
    try await home.add(samples)
    let destination = try destination()
    _ = try await home.deliver(to: destination)
    let others = String(decoding: try await ask("GET", "_all"), as: UTF8.self).split(separator: "\n").count - 20
    var coder = ChangeCoder()
    for sample in samples[15...] { try coder.add(sample) }
    let batch = DeliveryBatch(changes: coder.changes, startsOver: true)
    _ = try await destination.deliver(batch, key: DeliveryKey(description: "key"))
    #expect(Set(try await resources().mine.keys) == Set(samples[15...].map(\.uuid)))
    let all = String(decoding: try await ask("GET", "_all"), as: UTF8.self).split(separator: "\n").count
    #expect(all == others + 5)
    await destination.close()
  }

  @Test("a check leaves nothing, and says what is wrong")
  func check() async throws {
    let destination = try destination()
    try await destination.check()
    #expect(try await resources().mine.isEmpty)
    await destination.close()
    let wrong = try self.destination(token: "other")
    await #expect(throws: DeliveryError.unusable(reason: "it answers 401: the credentials are wrong")) {
      try await wrong.check()
    }
    await wrong.close()
    let nobody = try self.destination(["subject": .text("Patient/nobody")])
    let error = await #expect(throws: DeliveryError.self) { try await nobody.check() }
    #expect(error.map { "\($0)".contains("Patient/nobody") } == true)
    await nobody.close()
    let misplaced = try self.destination(["url": .text(url + "nowhere/else")])
    guard case .unusable? = await #expect(throws: DeliveryError.self, performing: { try await misplaced.check() })
    else {
      Issue.record("not unusable")
      return
    }
    await misplaced.close()
  }
}
