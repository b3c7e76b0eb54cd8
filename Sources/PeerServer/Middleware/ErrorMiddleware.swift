import HTTPTypes
import HealthStore
import Hummingbird
import NIOHTTP1
import PeerProtocol
import PeerTrust

/// Middleware that maps every error thrown below it to a documented response, so that no internal details reach the
/// caller.
struct ErrorMiddleware: RouterMiddleware {
  /// The methods of each path, used to distinguish a wrong method from a wrong path.
  let methods: [String: Set<HTTPRequest.Method>]

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      let answer = try answer(to: request, error, context)
      // A client would read a body after a HEAD answer as the next answer.
      return request.method == .head ? answer.createHeadResponse() : answer
    }
  }

  private func answer(to request: Request, _ error: any Error, _ context: PeerRequestContext) throws -> Response {
    switch error {
    case let failure as ServerFailure: return failure.response()
    case let rejection as PairRejection:
      return JSONAnswer.response(PairErrorBody(rejection), status: .init(code: rejection.httpStatus))
    case let error as HTTPError: return notHandled(request, error).response()
    case let error as any HTTPResponseError: return notHandled(request, HTTPError(error.status)).response()
    // Hummingbird answers 400 to the first, and ends the connection in both cases.
    case is HTTPParserError, is CancellationError: throw error
    case is StoreError, is PeerRegistryError:
      // The store reports a cancelled read as an error of its own.
      try Task.checkCancellation()
      context.logger.error("store", metadata: ["error": "\(error)"])
      return ServerFailure(
        status: .serviceUnavailable, message: "The store cannot answer right now.", headers: [.retryAfter: "5"]
      ).response()
    default:
      context.logger.error("request", metadata: ["error": "\(error)"])
      return ServerFailure(status: .internalServerError, message: "Internal error").response()
    }
  }

  private func notHandled(_ request: Request, _ error: HTTPError) -> ServerFailure {
    switch error.status {
    case .notFound:
      if let allowed = methods[request.uri.path], !allowed.contains(request.method) {
        let list = allowed.map(\.rawValue).sorted().joined(separator: ", ")
        return ServerFailure(status: .methodNotAllowed, message: "Method Not Allowed", headers: [.allow: list])
      }
      return ServerFailure(status: .notFound, message: "Not Found")
    case .contentTooLarge:
      return ServerFailure(status: .contentTooLarge, message: "Request body too large")
    default:
      return ServerFailure(status: error.status, message: error.status.reasonPhrase)
    }
  }
}
