import Foundation
import HealthModel
import OperatingSystem

@testable import Destinations

/// The harness of the destination `webdav`, with WsgiDAV, whose ETags are strong.
struct WebDAVHarness: DestinationHarness {
  typealias Place = WebDAVDestination
  private let server: WebDAVServer
  var port: Int? { server.port }
  let secrets = ["PASSWORD": "s3cret"]
  // What is there may be others', too.
  let forgets = false

  static func start() async throws -> Self {
    guard WebDAVServer.Kind.wsgidav.isHere else { throw HarnessUnavailable(WebDAVServer.missing) }
    return Self(server: try await onThread { _ in try WebDAVServer(.wsgidav) })
  }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    [
      "url": .text("\(place.scheme)://localhost:\(place.port)/"), "prefix": .text(place.name), "username": .text("ada"),
      "password": .text("env:PASSWORD"),
    ]
  }

  func contents(of place: HarnessPlace) async throws -> [String] {
    try server.records(in: place.name).filter { !$0.isDeleted }.map(\.uuid)
  }

  func loseAll(at place: HarnessPlace) throws -> Bool {
    try FileManager.default.removeItem(atPath: "\(server.files)/\(place.name)")
    return true
  }
}
