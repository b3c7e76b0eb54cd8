import Foundation
import HealthModel
import TestSupport

@testable import Destinations

/// The harness of the destination `fhir`, with a patient for each test on a validating server.
struct FHIRHarness: DestinationHarness {
  typealias Place = FHIRDestination

  let server: ServerProcess

  static func start() throws -> Self {
    let judges = PythonEnvironment("fhir")
    guard let python = judges.program("python") else { throw HarnessUnavailable(judges.missing) }
    let root = URL(filePath: #filePath).appending(path: "../../../..").standardized.path
    return Self(
      server: try ServerProcess(
        python,
        [
          "Tests/Tools/fhir-server", "docs/reference/formats/fhir/StructureDefinition-sample.json", "s3cret",
          "any-patient",
        ],
        in: root, until: "LISTENING ON "))
  }

  var port: Int? { server.port }
  var secrets: [String: String] { ["TOKEN": "s3cret"] }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    [
      "url": .text("\(place.scheme)://127.0.0.1:\(place.port)"), "token": .text("env:TOKEN"),
      "subject": .text("Patient/\(place.name)"), "batch": .integer(20),
    ]
  }

  func contents(of place: HarnessPlace) async throws -> [String] {
    struct Resource: Decodable {
      struct Identifier: Decodable { var value: String }
      struct Reference: Decodable { var reference: String? }

      var identifier: [Identifier]
      var subject: Reference?
    }
    let lines = String(decoding: try await ask("GET", "_all"), as: UTF8.self).split(separator: "\n")
    return try lines.compactMap { line in
      let resource = try JSONDecoder().decode(Resource.self, from: Data(line.utf8))
      guard resource.subject?.reference == "Patient/\(place.name)" else { return nil }
      return resource.identifier.first.map { $0.value.dropFirst("urn:uuid:".count).uppercased() }
    }
  }

  func loseAll(at place: HarnessPlace) async throws -> Bool {
    _ = try await ask("POST", "_lose?subject=Patient/\(place.name)")
    return true
  }

  func setCredentials(areValid: Bool) async throws -> Bool {
    _ = try await ask("POST", "_token?is=\(areValid ? "s3cret" : "other")")
    return true
  }

  private func ask(_ method: String, _ path: String) async throws -> [UInt8] {
    let url = "http://127.0.0.1:\(server.port)/"
    let service = try HTTPServiceTests.service(url)
    let response = try await service.answer(to: HTTPService.Request(method, url + path))
    await service.close()
    return response.body
  }
}
