-- A customer who comes by the address of a request that his site handed him has been signed in by that site, once.

alter table sign_in add approval_request_id uuid unique references approval_request;
