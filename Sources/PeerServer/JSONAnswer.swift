import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Functions that create responses from encodable values.
enum JSONAnswer {
  static func response(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = .init()
  ) -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    var headers = headers
    var status = status
    let data: Data
    do {
      data = try encoder.encode(value)
    } catch {
      status = .internalServerError
      data = Data(#"{"error":"Internal error","success":false}"#.utf8)
    }
    headers[.contentType] = "application/json"
    headers[.cacheControl] = "no-store"
    return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: data)))
  }

  /// The header fields of a JSON answer that must not be cached.
  static let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]

  /// Returns a JSON response without a length, so that it is sent in small pieces (``FairScheduling``).
  static func inPieces(_ json: ByteBuffer) -> Response {
    let body = ResponseBody { writer in
      try await writer.write(json)
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: headers, body: body)
  }
}
